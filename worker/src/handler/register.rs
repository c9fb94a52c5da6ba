//! How registers join, and what one shows. Pure, and the reason why order doesn't matter:
//! `join` is associative, commutative and idempotent, so every arrival order of a set of
//! events, with any doubles, gives the same register, and the view is a function of it.
//!
//! What the provider answered when it was asked (an observation) is one more element of the
//! set. It says which events of the newest second it has seen, so it counts only while it
//! has seen them all: whatever comes later takes its certainty away again.

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

/// What was observed after all of the events; else the end of the chain that they form; else
/// the greatest (rank, event id). `None` only for a register without events, which
/// [`single`] and [`join`] never make.
pub(super) fn view<I: Ord>(register: &Register<I>) -> Option<View<'_, I>> {
    let (observed, events): (Vec<_>, Vec<_>) = register
        .events
        .iter()
        .partition(|seen| seen.covers.is_some());
    let observed = newest(&observed, &events);
    let certain = match observed.as_slice() {
        [] => end_of_chain(&events),
        [first, others @ ..] => {
            let same = others.iter().all(|other| other.after == first.after);
            same.then_some(&first.after)
        }
    };
    if let Some(image) = certain {
        return Some(View {
            image,
            provisional: false,
        });
    }
    let guesses = if observed.is_empty() {
        events
    } else {
        observed
    };
    let greatest = guesses.iter().max_by_key(|seen| (seen.rank, &seen.id))?;
    Some(View {
        image: &greatest.after,
        provisional: true,
    })
}

/// Whether `id` is an observation that has seen every event.
pub(super) fn is_last_word<I>(register: &Register<I>, id: &str) -> bool {
    let (observed, events): (Vec<_>, Vec<_>) = register
        .events
        .iter()
        .partition(|seen| seen.covers.is_some());
    newest(&observed, &events).iter().any(|seen| seen.id == id)
}

/// The observations that have seen all of `events`, without those that another one of them
/// has seen. More than one only when several asked at the same time.
fn newest<'a, I>(observed: &[&'a Seen<I>], events: &[&Seen<I>]) -> Vec<&'a Seen<I>> {
    let covers = |seen: &Seen<I>, id: &String| {
        let covers = seen.covers.as_deref().unwrap_or_default();
        covers.contains(id)
    };
    let complete = |seen: &&&Seen<I>| events.iter().all(|event| covers(seen, &event.id));
    let complete: Vec<&Seen<I>> = observed.iter().filter(complete).copied().collect();
    let is_newest = |seen: &&&Seen<I>| !complete.iter().any(|other| covers(other, &seen.id));
    let newest: Vec<_> = complete.iter().filter(is_newest).copied().collect();
    // Only a circle has no newest one, and ids are digests of what they cover.
    if newest.is_empty() { complete } else { newest }
}

/// Takes each event as a step from its before-image to its after-image. Answers where the
/// steps end, if all distinct images form one simple path.
fn end_of_chain<'a, I: Ord>(events: &[&'a Seen<I>]) -> Option<&'a I> {
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
            covers: None,
        }
    }

    fn observed(id: &str, after: u8, covers: &[&str]) -> Seen<u8> {
        let covers = covers.iter().map(|id| (*id).to_owned()).collect();
        Seen {
            covers: Some(covers),
            ..seen(id, None, after)
        }
    }

    fn shown(events: &[&Seen<u8>]) -> (u8, bool) {
        let register = events
            .iter()
            .map(|seen| single(false, 1, (*seen).clone()))
            .reduce(|one, other| join(&one, &other))
            .unwrap();
        let view = view(&register).unwrap();
        (*view.image, view.provisional)
    }

    #[test]
    fn what_was_observed_after_all_events_is_certain_and_anything_newer_ends_that() {
        let (on, off) = (seen("e1", Some(0), 1), seen("e2", Some(1), 0));
        assert!(shown(&[&on, &off]).1);
        let answer = observed("o1", 0, &["e1", "e2"]);
        assert_eq!(shown(&[&on, &off, &answer]), (0, false));
        let early = observed("o0", 1, &["e1"]);
        assert!(shown(&[&on, &off, &early]).1, "e2 came while it was asked");
        assert_eq!(shown(&[&on, &early]), (1, false));
        assert_eq!(shown(&[&on, &off, &early, &answer]), (0, false));
        assert_eq!(shown(&[&answer]), (0, false));
    }

    #[test]
    fn of_two_answers_the_later_one_counts_and_two_of_one_moment_are_asked_again() {
        let event = seen("e1", None, 1);
        let first = observed("o9", 2, &["e1"]);
        let second = observed("o1", 3, &["e1", "o9"]);
        assert_eq!(shown(&[&event, &first, &second]), (3, false));
        let beside = observed("o5", 4, &["e1"]);
        assert_eq!(shown(&[&event, &first, &beside]), (2, true));
        let agrees = observed("o5", 2, &["e1"]);
        assert_eq!(shown(&[&event, &first, &agrees]), (2, false));
        let last = observed("o0", 5, &["e1", "o5", "o9"]);
        assert_eq!(shown(&[&event, &first, &beside, &last]), (5, false));
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
                let covered = |random: &mut fastrand::Rng| {
                    let ids = (0..4).filter(|_| random.bool());
                    ids.map(|n| format!("e{n}")).collect()
                };
                let seen = Seen {
                    rank: random.i32(0..2),
                    covers: (random.u8(0..3) == 0).then(|| covered(&mut random)),
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
