//! What each answer leads to.

use std::time::Duration;

use serde_json::json;

use super::super::breaker::Health;
use super::super::client::{Answer, Trouble};
use super::super::plan::{Outcome, Plan, Step};
use super::stripe::{NOW, Stripe, answered, object, sub};
use crate::handler::tests::story::{completed, created, deleted, session, updated};

fn flagged() -> Stripe {
    let mut stripe = Stripe::of(sub(json!({})));
    let unpaid = sub(json!({ "status": "unpaid" }));
    stripe.take(&[
        completed("c", 5, session("cs_1", json!({ "subscription": "sub_1" }))),
        updated("e2", 10, unpaid, json!({ "status": "active" })),
        updated("e3", 10, sub(json!({})), json!({ "status": "unpaid" })),
    ]);
    stripe
}

fn wait(plan: &Plan) -> Duration {
    let due = plan.otherwise.as_ref().unwrap().due_at.timestamp_millis();
    Duration::from_millis((due - NOW.timestamp_millis()).unsigned_abs())
}

#[test]
fn while_stripe_does_not_answer_access_stays_and_so_does_the_flag() {
    let mut stripe = flagged();
    let mut waits = Vec::new();
    for tries in 1..=12 {
        stripe.edit(|known| known.next_check.as_mut().unwrap().tries = tries);
        let plan = answered(Answer::Unavailable(Trouble::Status(500)), stripe.known());
        assert_eq!(plan.outcome, Outcome::Unavailable);
        waits.push(wait(&plan));
        stripe.follow(plan);
    }
    assert!(waits.is_sorted());
    assert_eq!(waits[0], Duration::from_secs(5));
    assert_eq!(waits[11], Duration::from_secs(3_600));
    let known = stripe.known();
    assert!(known.provisional && stripe.doubt().is_some());
    let problem = known.next_check.as_ref().unwrap().problem.as_deref();
    assert_eq!(problem, Some("unavailable"), "an operator sees why");
    assert!(
        stripe.world.customers["self:test:cus_1"]
            .entitlement
            .entitled
    );
    stripe.repair();
    stripe.check_truth("it answers again");
}

#[test]
fn each_answer_has_its_one_meaning() {
    let stripe = flagged();
    let known = stripe.known();
    let wait_of = Some(Duration::from_secs(90));
    for (answer, outcome, health, seconds) in [
        (Answer::Missing, Outcome::Missing, Health::Well, 7 * 86_400),
        (Answer::Refused(401), Outcome::Refused, Health::Refusing, 5),
        (Answer::Refused(403), Outcome::Refused, Health::Refusing, 5),
        (
            Answer::Limited(wait_of),
            Outcome::Limited,
            Health::Busy(wait_of),
            90,
        ),
        (
            Answer::Limited(None),
            Outcome::Limited,
            Health::Busy(None),
            5,
        ),
        (
            Answer::Unavailable(Trouble::TimedOut),
            Outcome::Unavailable,
            Health::Down,
            5,
        ),
        (
            Answer::Unavailable(Trouble::Unreachable),
            Outcome::Unavailable,
            Health::Down,
            5,
        ),
        (Answer::Unreadable, Outcome::Unreadable, Health::Well, 5),
    ] {
        assert_eq!(Health::of(&answer, known), health, "{answer:?}");
        let plan = answered(answer.clone(), known);
        assert_eq!(plan.outcome, outcome, "{answer:?}");
        assert_eq!(wait(&plan).as_secs(), seconds, "{answer:?}");
        assert!(matches!(plan.step, Step::Nothing), "{answer:?}");
        assert_eq!(
            plan.flag.is_some(),
            outcome == Outcome::Missing,
            "{answer:?}"
        );
    }
    let mut connected = known.clone();
    "acct_1".clone_into(&mut connected.account);
    let refused = Answer::Refused(403);
    assert_eq!(
        Health::of(&refused, &connected),
        Health::Well,
        "its own affair"
    );
}

#[test]
fn what_is_not_the_object_that_was_asked_for_is_not_taken_in() {
    let mut stripe = flagged();
    for wrong in [
        json!({}),
        json!({ "object": "list", "data": [] }),
        sub(json!({ "id": "sub_2" })),
        sub(json!({ "livemode": true })),
        sub(json!({ "object": "customer" })),
        sub(json!({ "status": null })),
    ] {
        let plan = answered(Answer::Object(object(&wrong)), stripe.known());
        assert_eq!(plan.outcome, Outcome::Unreadable, "{wrong}");
        assert_eq!(plan.flag, None);
    }
    stripe.edit(|known| known.next_check.as_mut().unwrap().tries = 4);
    let plan = answered(Answer::Unreadable, stripe.known());
    assert_eq!(plan.flag, Some("unreadable"), "it is what Stripe says");
}

#[test]
fn what_is_over_does_not_come_back_whatever_stripe_says() {
    let mut stripe = Stripe::of(sub(json!({})));
    stripe.take(&[
        created("e1", 10, sub(json!({}))),
        deleted("e2", 20, sub(json!({}))),
        updated("e3", 30, sub(json!({})), json!({ "quantity": 1 })),
    ]);
    let plan = stripe.ask();
    assert_eq!(plan.flag, Some("contradicted"));
    stripe.follow(plan);
    assert_eq!(stripe.known().status, "canceled");
}
