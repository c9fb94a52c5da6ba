//! How registers join, and what one shows. Pure, and the reason why order doesn't matter:
//! `join` is associative, commutative and idempotent, so every arrival order of a set of
//! events, with any doubles, gives the same register, and the view is a function of it.

use std::collections::BTreeSet;

use hookledger_shared::model::register::{Register, Seen};

/// A register that has seen one event.
pub(super) fn single<I>(terminal: bool, created: i64, seen: Seen<I>) -> Register<I> {
    Register {
        terminal,
        created,
        events: vec![seen],
    }
}

/// The newer of the two; of equals, everything both have seen. Where they hold one event in
/// two renderings, the greater stays, whichever came first.
pub(super) fn join<I: Ord + Clone>(one: &Register<I>, other: &Register<I>) -> Register<I> {
    match key(one).cmp(&key(other)) {
        std::cmp::Ordering::Less => other.clone(),
        std::cmp::Ordering::Greater => one.clone(),
        std::cmp::Ordering::Equal => {
            let both: BTreeSet<&Seen<I>> = one.events.iter().chain(&other.events).collect();
            let mut events: Vec<Seen<I>> = Vec::with_capacity(both.len());
            // Ordered by id first, so renderings of one event are neighbours.
            for seen in both {
                match events.last_mut() {
                    Some(last) if last.id == seen.id => *last = seen.clone(),
                    Some(_) | None => events.push(seen.clone()),
                }
            }
            Register {
                events,
                ..one.clone()
            }
        }
    }
}

/// A register with an event's news in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken<I> {
    /// What was stored, joined with the news.
    pub(super) register: Register<I>,
    /// Newer news was known already.
    pub(super) stale: bool,
    /// What it shows.
    pub(super) image: I,
    /// See [`View::provisional`].
    pub(super) provisional: bool,
}

/// Takes one event's news in.
pub(super) fn take<I: Ord + Clone>(
    stored: Option<&Register<I>>,
    terminal: bool,
    created: i64,
    seen: Seen<I>,
) -> Taken<I> {
    let fallback = seen.after.clone();
    let news = single(terminal, created, seen);
    let register = stored.map_or_else(|| news.clone(), |stored| join(stored, &news));
    let stale = key(&register) != key(&news);
    let shown = view(&register).map(|view| (view.image.clone(), view.provisional));
    let (image, provisional) = shown.unwrap_or((fallback, false));
    Taken {
        register,
        stale,
        image,
        provisional,
    }
}

fn key<I>(register: &Register<I>) -> (bool, i64) {
    (register.terminal, register.created)
}

/// What a register shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View<'a, I> {
    /// The object.
    pub(super) image: &'a I,
    /// The events don't form one chain, so their order, and with it the image, is a guess
    /// that is the same everywhere.
    pub(super) provisional: bool,
}

/// The end of the chain that the events form; else the greatest (rank, event id). `None`
/// only for a register without events, which [`single`] and [`join`] never make.
pub(super) fn view<I: Ord>(register: &Register<I>) -> Option<View<'_, I>> {
    let certain = end_of_chain(&register.events).map(|image| View {
        image,
        provisional: false,
    });
    certain.or_else(|| {
        let greatest = register
            .events
            .iter()
            .max_by_key(|seen| (seen.rank, &seen.id))?;
        Some(View {
            image: &greatest.after,
            provisional: true,
        })
    })
}

/// Takes each event as a step from its before-image to its after-image. Answers where the
/// steps end, if all distinct images form one simple path.
fn end_of_chain<I: Ord>(events: &[Seen<I>]) -> Option<&I> {
    let images: BTreeSet<&I> = events
        .iter()
        .flat_map(|seen| seen.before.iter().chain([&seen.after]))
        .collect();
    // A step to where it began says that something changed which we don't look at.
    let steps: BTreeSet<(&I, &I)> = events
        .iter()
        .filter_map(|seen| Some((seen.before.as_ref()?, &seen.after)))
        .filter(|(before, after)| before != after)
        .collect();
    let mut at = *images
        .iter()
        .find(|image| steps.iter().all(|(_, after)| after != *image))?;
    let mut walked = 0;
    loop {
        let mut onward = steps.iter().filter(|(before, _)| *before == at);
        match (onward.next(), onward.next()) {
            // No circle: each image but the first must be the end of one step.
            (Some((_, after)), None) if walked < steps.len() => {
                at = after;
                walked += 1;
            }
            (None, _) => break,
            (Some(_), _) => return None,
        }
    }
    (walked == steps.len() && walked + 1 == images.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(id: &str, before: Option<u8>, after: u8) -> Seen<u8> {
        Seen {
            id: id.to_owned(),
            rank: 5,
            after,
            before,
        }
    }

    fn of(events: &[(Option<u8>, u8)]) -> (u8, bool) {
        let register = events
            .iter()
            .enumerate()
            .map(|(n, (before, after))| single(false, 1, seen(&format!("e{n}"), *before, *after)))
            .reduce(|one, other| join(&one, &other))
            .unwrap();
        let view = view(&register).unwrap();
        (*view.image, view.provisional)
    }

    #[test]
    fn a_simple_path_is_certain_and_ends_at_its_end() {
        for (events, end) in [
            (&[(None, 1)][..], 1),
            (&[(None, 1), (Some(1), 2)], 2),
            (&[(Some(2), 3), (None, 1), (Some(1), 2)], 3),
            // The same step twice, a step that shows no change, an image on the way.
            (&[(Some(1), 2), (Some(1), 2)], 2),
            (&[(Some(1), 2), (Some(2), 2)], 2),
            (&[(Some(1), 2), (None, 1), (None, 2)], 2),
        ] {
            assert_eq!(of(events), (end, false), "{events:?}");
        }
    }

    #[test]
    fn whatever_is_no_simple_path_is_provisional() {
        for events in [
            &[(None, 1), (None, 2)][..],
            &[(Some(1), 2), (Some(2), 1)],
            &[(Some(1), 2), (Some(1), 3)],
            &[(Some(1), 3), (Some(2), 3)],
            &[(Some(1), 2), (Some(3), 4)],
            &[(Some(1), 2), (Some(3), 4), (Some(4), 3)],
            &[(Some(1), 2), (Some(2), 3), (Some(3), 2)],
            &[(None, 1), (Some(1), 2), (Some(2), 1), (Some(1), 3)],
        ] {
            assert!(of(events).1, "{events:?}");
        }
    }

    #[test]
    fn join_is_associative_commutative_and_idempotent() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut register = || {
            let events = (0..random.usize(1..4)).map(|_| {
                let id = format!("e{}", random.u8(0..4));
                let before = random.bool().then(|| random.u8(0..3));
                let seen = Seen {
                    rank: random.i32(0..2),
                    ..seen(&id, before, random.u8(0..3))
                };
                single(random.bool(), random.i64(0..3), seen)
            });
            events.reduce(|one, other| join(&one, &other)).unwrap()
        };
        for _ in 0..20_000 {
            let (a, b, c) = (register(), register(), register());
            assert_eq!(join(&a, &b), join(&b, &a));
            assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
            assert_eq!(join(&a, &a), a);
            assert_eq!(join(&join(&a, &b), &b), join(&a, &b));
        }
    }

    #[test]
    fn two_renderings_of_one_event_end_as_one_whichever_came_first() {
        let old = single(false, 1, seen("e", None, 1));
        let new = single(false, 1, seen("e", Some(0), 1));
        assert_eq!(join(&old, &new), join(&new, &old));
        assert_eq!(join(&old, &new).events.len(), 1);
    }
}
