//! When Stripe is asked, and when not.

use std::time::Duration;

use hookledger_shared::model::subscription::CheckReason;
use serde_json::json;

use super::super::plan::Outcome;
use super::stripe::{NOW, Stripe, sub};
use crate::handler::tests::story::{completed, created, deleted, items, session, updated};

const DAY: i64 = 86_400;

/// Seconds from now until the check.
fn due_in(stripe: &Stripe) -> i64 {
    let due = stripe.check().unwrap().due_at.timestamp_millis();
    (due - NOW.timestamp_millis()) / 1_000
}

fn checkout() -> crate::handler::tests::story::Event {
    completed("c", 5, session("cs_1", json!({ "subscription": "sub_1" })))
}

#[test]
fn what_can_not_be_told_is_asked_for_when_its_burst_is_over() {
    let mut stripe = Stripe::of(sub(json!({})));
    let on = sub(json!({ "cancel_at_period_end": true }));
    stripe.take(&[
        updated("e2", 10, on, json!({ "cancel_at_period_end": false })),
        updated(
            "e3",
            10,
            sub(json!({})),
            json!({ "cancel_at_period_end": true }),
        ),
    ]);
    assert_eq!(stripe.doubt(), Some(CheckReason::Provisional));
    assert_eq!(due_in(&stripe), 3);
}

#[test]
fn a_gap_and_an_event_after_the_end_are_asked_about() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&[
        checkout(),
        created("e1", 10, sub(json!({ "status": "incomplete" }))),
        updated("e3", 20, sub(json!({})), json!({ "status": "past_due" })),
    ]);
    assert_eq!(stripe.doubt(), Some(CheckReason::ChainBreak));
    // An unbroken one does not make up for the one that is missing.
    let on = sub(json!({ "cancel_at_period_end": true }));
    stripe.take([&updated(
        "e4",
        30,
        on.clone(),
        json!({ "cancel_at_period_end": false }),
    )]);
    assert_eq!(stripe.doubt(), Some(CheckReason::ChainBreak));
    stripe.truth = on;
    let plan = stripe.ask();
    assert_eq!(
        stripe.follow(plan),
        Outcome::Confirmed,
        "nothing to take in"
    );
    assert_eq!(stripe.doubt(), None);

    stripe.take([&deleted("e5", 40, sub(json!({})))]);
    assert_eq!(stripe.check(), None);
    stripe.take([&updated("e6", 50, sub(json!({})), json!({ "quantity": 1 }))]);
    assert_eq!(stripe.doubt(), Some(CheckReason::Impossible));
    assert!(stripe.known().terminal, "it is over for all that");
}

#[test]
fn a_doubt_ends_with_the_last_word_and_not_with_an_answer_that_came_too_late() {
    let off = sub(json!({}));
    let on = sub(json!({ "cancel_at_period_end": true }));
    let broken = || {
        let mut stripe = Stripe::of(on.clone());
        stripe.take(&[
            checkout(),
            created("e1", 10, sub(json!({ "status": "incomplete" }))),
            updated("e3", 20, off.clone(), json!({ "status": "past_due" })),
        ]);
        stripe
    };
    let mut stripe = broken();
    let plan = stripe.ask();
    assert_eq!(stripe.follow(plan), Outcome::Observed);
    assert_eq!(stripe.doubt(), None);

    let mut stripe = broken();
    let plan = stripe.ask();
    stripe.take([&updated(
        "e4",
        20,
        on.clone(),
        json!({ "cancel_at_period_end": false }),
    )]);
    assert_eq!(stripe.follow(plan), Outcome::Observed);
    assert_eq!(stripe.doubt(), Some(CheckReason::ChainBreak));
    assert_eq!((due_in(&stripe), stripe.check().unwrap().tries), (3, 0));
}

#[test]
fn an_end_settles_every_doubt() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&[
        created("e1", 10, sub(json!({ "status": "incomplete" }))),
        updated("e3", 20, sub(json!({})), json!({ "status": "past_due" })),
    ]);
    assert_eq!(stripe.doubt(), Some(CheckReason::ChainBreak));
    stripe.take([&deleted("e4", 30, sub(json!({})))]);
    assert_eq!(stripe.check(), None);
}

#[test]
fn ordinary_lives_are_asked_about_only_when_they_fall_silent() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&[
        checkout(),
        created("e1", 10, sub(json!({ "status": "incomplete" }))),
        updated("e2", 10, sub(json!({})), json!({ "status": "incomplete" })),
        updated(
            "e3",
            100,
            sub(json!({ "items": items(2_000) })),
            json!({ "items": items(1_000) }),
        ),
    ]);
    assert_eq!(stripe.check().unwrap().reason, CheckReason::PeriodOver);
    assert_eq!(due_in(&stripe), 1_000 + DAY);
}

#[test]
fn a_customer_that_stays_nobody_is_asked_about_and_a_link_takes_that_back() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take([&created("e1", 10, sub(json!({})))]);
    assert_eq!(stripe.check().unwrap().reason, CheckReason::Unlinked);
    assert_eq!(due_in(&stripe), 600);
    stripe.take([&checkout()]);
    assert_eq!(stripe.check().unwrap().reason, CheckReason::PeriodOver);

    let mut stripe = Stripe::of(sub(json!({ "status": "unpaid" })));
    stripe.take([&created("e1", 10, stripe.truth.clone())]);
    let check = stripe.check().unwrap();
    assert_eq!(check.reason, CheckReason::PeriodOver, "it gives no access");
}

#[test]
fn a_link_that_only_stripe_knows_is_taken_in_and_none_is_not_asked_for_again() {
    let linked = sub(json!({ "metadata": { "plan": "pro", "user_id": "user_7" } }));
    for (truth, outcome) in [
        (linked, Outcome::Observed),
        (sub(json!({})), Outcome::Confirmed),
    ] {
        let user = truth["metadata"]["user_id"].as_str().map(str::to_owned);
        let mut stripe = Stripe::of(truth);
        stripe.take([&created("e1", 10, sub(json!({})))]);
        let plan = stripe.ask();
        assert_eq!(stripe.follow(plan), outcome);
        assert_eq!(stripe.world.customers["self:test:cus_1"].user_id, user);
        assert_eq!(stripe.check().unwrap().reason, CheckReason::PeriodOver);
    }
}

#[test]
fn a_period_that_stays_over_is_looked_at_ever_less_often() {
    let long_ago = sub(json!({ "status": "paused", "items": items(10) }));
    let mut stripe = Stripe::of(long_ago.clone());
    stripe
        .world
        .take(&[checkout(), created("e1", 10, long_ago)]);
    let mut waits = Vec::new();
    for _ in 0..8 {
        let plan = stripe.ask();
        assert_eq!(stripe.follow(plan), Outcome::Confirmed);
        // The period's own end and a day is what is waited for at least.
        waits.push(Duration::from_secs(due_in(&stripe).unsigned_abs()));
    }
    let days: Vec<_> = waits.iter().map(|wait| wait.as_secs() / 86_400).collect();
    assert_eq!(days, [1, 2, 4, 8, 16, 30, 30, 30]);
}
