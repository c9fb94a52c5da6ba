//! Random lives with many changes in one second, some of their events lost: with a Stripe
//! that holds the truth, the end is always the truth.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::stripe::{KEY, Stripe, sub};
use crate::handler::tests::story::{Event, created, deleted, updated};

const LIVES: u64 = 3_000;

/// The events of a life, and the subscription after each.
fn life(random: &mut Rng) -> (Vec<Event>, Vec<Value>) {
    let mut now = 10;
    let mut fields = json!({ "status": "active", "cancel_at_period_end": false });
    let mut events = vec![created("e0", now, sub(fields.clone()))];
    let mut states = vec![sub(fields.clone())];
    for n in 1..random.usize(2..8) {
        now += i64::from(random.u8(0..8) / 5);
        let (name, value) = if random.bool() {
            let status = random.choice(["active", "past_due", "unpaid"]);
            ("status", json!(status))
        } else {
            ("cancel_at_period_end", json!(random.bool()))
        };
        let previous = fields[name].clone();
        if previous == value {
            continue;
        }
        fields[name] = value;
        let id = format!("e{}{n}", random.alphabetic());
        let changed = Map::from_iter([(name.to_owned(), previous)]);
        events.push(updated(&id, now, sub(fields.clone()), changed.into()));
        states.push(sub(fields.clone()));
    }
    if random.u8(0..4) == 0 {
        events.push(deleted("e99", now, sub(fields.clone())));
        fields["status"] = json!("canceled");
        states.push(sub(fields));
    }
    (events, states)
}

/// Delivers what was not lost, shuffled and doubled, and asks now and then while the life
/// goes on; at the end until nothing is in doubt.
fn lived(random: &mut Rng, events: &[Event], states: &[Value], lost: Option<usize>) -> Stripe {
    let mut deliveries: Vec<usize> = (0..events.len()).filter(|n| Some(*n) != lost).collect();
    let doubled = random.choose_multiple(deliveries.clone(), events.len() / 2);
    deliveries.extend(doubled);
    random.shuffle(&mut deliveries);
    let mut stripe = Stripe::of(states[0].clone());
    // How far the life has gone: as far as what has been delivered, or further.
    let mut gone = 0;
    for n in deliveries {
        // Sometimes it comes between a question and its answer.
        let early = (random.u8(0..4) == 0 && stripe.doubt().is_some()).then(|| stripe.ask());
        stripe.take([&events[n]]);
        if let Some(plan) = early {
            stripe.follow(plan);
        }
        gone = random.usize(gone.max(n)..states.len());
        stripe.truth = states[gone].clone();
        if random.u8(0..3) == 0 && stripe.world.subscriptions.contains_key(KEY) {
            stripe.repair();
        }
    }
    stripe.truth = states[states.len() - 1].clone();
    stripe.repair();
    stripe
}

#[test]
fn with_every_event_it_ends_at_the_truth_and_stripe_is_asked_once_an_event_at_most() {
    let mut asked = 0;
    for seed in 0..LIVES {
        let mut random = Rng::with_seed(seed);
        let (events, states) = life(&mut random);
        let stripe = lived(&mut random, &events, &states, None);
        stripe.check_truth(&format!("seed {seed}"));
        assert!(
            stripe.asked <= events.len() + 1,
            "seed {seed}: {}",
            stripe.asked
        );
        asked += stripe.asked;
    }
    assert!(asked > 300, "{asked}: too tame");
}

#[test]
fn whatever_was_lost_is_found_once_the_period_is_over() {
    let mut lives = 0;
    for seed in 0..LIVES {
        let mut random = Rng::with_seed(seed);
        let (events, states) = life(&mut random);
        let lost = random.usize(0..events.len());
        if events.len() == 1 {
            continue;
        }
        lives += 1;
        let mut stripe = lived(&mut random, &events, &states, Some(lost));
        assert!(
            stripe.asked <= events.len() + 1,
            "seed {seed}: {}",
            stripe.asked
        );
        // Whatever nobody doubts is asked for when its period is over.
        if stripe.check().is_some() {
            let plan = stripe.ask();
            stripe.follow(plan);
        }
        stripe.check_truth(&format!("seed {seed}"));
    }
    assert!(lives > 1_000, "{lives}: too tame");
}
