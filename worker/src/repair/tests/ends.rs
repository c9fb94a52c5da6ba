//! Where events and answers end together, whatever comes between.

use hookledger_shared::model::observation;
use hookledger_shared::model::subscription::CheckReason;
use serde_json::{Value, json};

use super::super::plan::{Outcome, Step};
use super::stripe::{KEY, Stripe, row, sub};
use crate::handler::tests::story::{Event, completed, created, deleted, items, session, updated};
use crate::handler::tests::world::World;
use crate::handler::{Family, Input};

fn checkout() -> Event {
    completed("c", 5, session("cs_1", json!({ "subscription": "sub_1" })))
}

fn on() -> Value {
    sub(json!({ "cancel_at_period_end": true }))
}

/// Switched on and off again within one second.
fn there_and_back() -> [Event; 3] {
    [
        checkout(),
        updated("e2", 10, on(), json!({ "cancel_at_period_end": false })),
        updated(
            "e3",
            10,
            sub(json!({})),
            json!({ "cancel_at_period_end": true }),
        ),
    ]
}

#[test]
fn s11_ends_certain_and_right_in_any_order_with_an_answer_anywhere() {
    let events = there_and_back();
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for order in orders {
        for place in 0..=order.len() {
            // What Stripe says then may be what was true before the last one happened.
            for early in [false, true] {
                let mut stripe = Stripe::of(sub(json!({})));
                let (before, after) = order.split_at(place);
                stripe.take(before.iter().map(|n| &events[*n]));
                let seen = stripe.world.subscriptions.contains_key(KEY);
                if seen && !(early && before.contains(&2)) {
                    let truth = std::mem::replace(
                        &mut stripe.truth,
                        if early { on() } else { sub(json!({})) },
                    );
                    let plan = stripe.ask();
                    stripe.follow(plan);
                    stripe.truth = truth;
                }
                stripe.take(after.iter().map(|n| &events[*n]));
                stripe.repair();
                let of = format!("{order:?} at {place}, early: {early}");
                stripe.check_truth(&of);
                assert!(stripe.asked <= events.len() + 1, "{of}: {}", stripe.asked);
            }
        }
    }
}

#[test]
fn what_comes_while_stripe_is_asked_makes_it_be_asked_again() {
    let events = there_and_back();
    let mut stripe = Stripe::of(on());
    stripe.take(&events[..2]);
    let plan = stripe.ask();
    // Known already, were it not for what comes now.
    assert_eq!(plan.outcome, Outcome::Confirmed);
    stripe.take(&events[2..]);
    assert_eq!(stripe.doubt(), Some(CheckReason::Provisional));

    stripe.truth = sub(json!({}));
    let plan = stripe.ask();
    let again = updated("e4", 10, on(), json!({ "cancel_at_period_end": false }));
    stripe.take([&again]);
    stripe.truth = on();
    stripe.follow(plan);
    assert!(stripe.known().provisional, "the answer does not know e4");
    stripe.repair();
    stripe.check_truth("there, back and there");
    assert!(stripe.asked <= 5);
}

#[test]
fn asked_twice_at_once_it_is_one_event() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&there_and_back());
    let ids = [stripe.ask(), stripe.ask()].map(|plan| match plan.step {
        Step::Insert(event) => event.event_id.clone(),
        Step::Nothing => panic!("{plan:?}"),
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn a_lost_end_is_found_and_told_once_also_when_its_event_comes_after_all() {
    let mut stripe = Stripe::of(sub(json!({ "status": "canceled", "ended_at": 900 })));
    stripe.take(&[checkout(), created("e1", 5, sub(json!({})))]);
    assert_eq!(stripe.check().unwrap().reason, CheckReason::PeriodOver);
    let plan = stripe.ask();
    assert_eq!(stripe.follow(plan), Outcome::Observed);
    assert!(stripe.known().terminal);
    assert_eq!(stripe.check(), None, "nothing more will happen to it");
    stripe.truth["cancel_at_period_end"] = json!(false);
    stripe.check_truth("canceled");
    let told = stripe.world.once.clone();
    assert!(
        told.iter().any(|key| key.contains("canceled:sub_1")),
        "{told:?}"
    );
    stripe.take([&deleted("e9", 900, sub(json!({})))]);
    assert_eq!(stripe.world.once, told);
    stripe.check_truth("and deleted");
}

#[test]
fn a_late_event_after_an_answer_does_not_have_the_last_word() {
    // e3 is lost. Stripe is asked, and then e2 comes, which chains right on to the answer.
    let [checkout, e2, _lost] = there_and_back();
    let mut stripe = Stripe::of(sub(json!({ "metadata": { "plan": "team" } })));
    stripe.take(&[checkout, created("e1", 5, sub(json!({})))]);
    let plan = stripe.ask();
    assert_eq!(stripe.follow(plan), Outcome::Observed);
    stripe.take([&e2]);
    assert_eq!(stripe.doubt(), Some(CheckReason::AfterAnswer));
    stripe.repair();
    stripe.check_truth("the answer again");
}

#[test]
fn an_answer_is_known_by_its_row_and_a_delivery_that_claims_to_be_one_is_ignored() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&there_and_back());
    let plan = stripe.ask();
    let Step::Insert(event) = plan.step else {
        panic!("{plan:?}")
    };
    let answer = row(&event);
    assert_eq!(Family::of_row(&answer), Some(Family::Subscription));
    let mut forged = answer.clone();
    "default".clone_into(&mut forged.scope);
    assert_eq!(forged.event_type.as_deref(), Some(observation::TYPE));
    assert_eq!(Family::of_row(&forged), None);
    assert!(Input::read(&forged, &World::rules()).is_err());
}

#[test]
fn the_same_rows_in_any_order_end_the_same() {
    let events = there_and_back();
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&events);
    let Step::Insert(answer) = stripe.ask().step else {
        panic!()
    };
    let rules = World::rules();
    let answer = Input::read(&row(&answer), &rules).unwrap();
    let ends: Vec<_> = (0..=events.len())
        .map(|place| {
            let mut world = World::default();
            world.take(&events[..place]);
            world.deliver(&answer, &rules);
            world.take(&events[place..]);
            world.end()
        })
        .collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:#?}");
}

#[test]
fn a_renewal_whose_news_was_lost_is_found_when_the_period_is_over() {
    let truth = sub(json!({ "items": items(9_000_000) }));
    let mut stripe = Stripe::of(truth);
    stripe.take(&[
        checkout(),
        created("e1", 5, sub(json!({ "items": items(500) }))),
    ]);
    let plan = stripe.ask();
    stripe.follow(plan);
    stripe.check_truth("renewed");
    let until = stripe.known().current_period_end.unwrap();
    assert_eq!(until.timestamp_millis(), 9_000_000_000);
    let due = stripe.check().unwrap().due_at.timestamp_millis();
    assert_eq!(due, 9_000_000_000 + 86_400_000, "and a day");
}
