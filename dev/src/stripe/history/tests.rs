//! What the demo relies on: the history is whole, coherent and repeatable.

use std::collections::HashSet;

use serde_json::Value;

use super::{Actors, CREDITS, History, PACK_AMOUNT, SKU};
use crate::stripe::event::Event;

const NOW: i64 = 1_767_225_600;

fn history() -> History {
    History::new(7, NOW)
}

fn body(event: &Event) -> Value {
    serde_json::from_str(&event.body).unwrap()
}

fn object_of(history: &History, kind: &str, mode: &str) -> Value {
    let objects = history
        .events
        .iter()
        .filter(|event| event.kind == kind)
        .map(|event| body(event)["data"]["object"].clone());
    objects
        .into_iter()
        .find(|object| object["mode"].is_null() || object["mode"] == mode)
        .unwrap()
}

#[test]
fn every_event_is_there_and_none_lies_in_the_future() {
    let mut kinds: Vec<String> = history()
        .events
        .into_iter()
        .map(|event| event.kind)
        .collect();
    kinds.sort();
    let expected = [
        "charge.succeeded",
        "charge.succeeded",
        "checkout.session.completed",
        "checkout.session.completed",
        "customer.created",
        "customer.subscription.created",
        "customer.subscription.updated",
        "invoice.created",
        "invoice.finalized",
        "invoice.paid",
        "invoice.payment_succeeded",
        "invoice_payment.paid",
        "payment_intent.created",
        "payment_intent.succeeded",
        "payment_intent.succeeded",
        "payment_method.attached",
    ];
    assert_eq!(kinds, expected);
    assert!(history().events.iter().all(|event| event.created <= NOW));
}

#[test]
fn the_subscriptions_events_lie_within_two_seconds() {
    let times: Vec<i64> = history()
        .events
        .iter()
        .take(13)
        .map(|event| event.created)
        .collect();
    assert!(times.iter().max().unwrap() - times.iter().min().unwrap() <= 1);
}

#[test]
fn the_envelope_says_what_the_struct_says() {
    for event in history().events {
        let body = body(&event);
        assert_eq!(body["id"], event.id.as_str());
        assert_eq!(body["type"], event.kind.as_str());
        assert_eq!(body["created"], event.created);
        assert_eq!(body["livemode"], false);
    }
}

#[test]
fn checkout_links_user_customer_and_subscription() {
    let history = history();
    let Actors {
        user,
        customer,
        subscription,
        ..
    } = &history.actors;
    let session = object_of(&history, "checkout.session.completed", "subscription");
    assert_eq!(session["client_reference_id"], user.as_str());
    assert_eq!(session["customer"], customer.as_str());
    assert_eq!(session["subscription"], subscription.as_str());
    let updated = object_of(&history, "customer.subscription.updated", "");
    assert_eq!(updated["status"], "active");
    assert_eq!(
        updated["items"]["data"][0]["current_period_end"],
        history.paid_until
    );
}

#[test]
fn the_update_of_a_subscription_begins_where_its_creation_ended() {
    let history = history();
    let created = object_of(&history, "customer.subscription.created", "");
    let updated = history
        .events
        .iter()
        .find(|event| event.kind == "customer.subscription.updated")
        .unwrap();
    let data = &body(updated)["data"];
    let mut before = data["object"].clone();
    for (name, value) in data["previous_attributes"].as_object().unwrap() {
        before[name] = value.clone();
    }
    assert_eq!(before, created);
}

#[test]
fn the_payment_carries_the_purchase_that_the_session_names() {
    let history = history();
    let session = object_of(&history, "checkout.session.completed", "payment");
    assert_eq!(
        session["metadata"]["purchase_id"],
        history.actors.purchase.as_str()
    );
    assert_eq!(session["metadata"]["sku"], SKU);
    assert_eq!(
        (session["amount_subtotal"].as_i64(), CREDITS),
        (Some(PACK_AMOUNT), 100)
    );
    let payments = history
        .events
        .iter()
        .filter(|event| event.kind == "payment_intent.succeeded")
        .map(body);
    let paid: Vec<Value> = payments
        .map(|body| body["data"]["object"].clone())
        .collect();
    assert!(
        paid.iter()
            .any(|paid| paid["id"] == session["payment_intent"]
                && paid["metadata"] == session["metadata"])
    );
}

#[test]
fn each_event_is_delivered_twice_in_an_order_that_its_seed_repeats() {
    let ids = |history: &History| {
        history
            .deliveries()
            .into_iter()
            .map(|event| event.id)
            .collect::<Vec<_>>()
    };
    let (first, again) = (ids(&history()), ids(&history()));
    assert_eq!(first, again);
    assert_eq!(first.len(), 32);
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 16);
}

#[test]
fn another_seed_shares_no_identifier() {
    let (one, other) = (History::new(1, NOW), History::new(2, NOW));
    assert!(
        one.events
            .iter()
            .all(|event| other.events.iter().all(|others| others.id != event.id))
    );
    assert_ne!(one.actors.customer, other.actors.customer);
    assert_ne!(one.actors.purchase, other.actors.purchase);
}
