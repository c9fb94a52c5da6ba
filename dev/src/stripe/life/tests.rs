//! Lives are honest, repeatable, and as nasty as they are meant to be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Life;
use super::teller::previous;

#[test]
fn the_same_seed_is_the_same_life() {
    let (one, again) = (Life::new(7), Life::new(7));
    assert_eq!(one.events, again.events);
    assert_ne!(one.events, Life::new(8).events);
}

#[test]
fn every_event_has_an_id_of_its_own_also_over_many_lives() {
    let lives = (0..500).map(Life::new);
    let ids: Vec<String> = lives
        .flat_map(|life| life.events)
        .map(|event| event.id)
        .collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
}

/// Each update's before-image is what the event before it left behind: the object's whole
/// history can be walked backwards.
#[test]
fn what_changed_is_told_honestly() {
    let mut updates = 0;
    for life in (0..500).map(Life::new) {
        let mut last: BTreeMap<(String, String), Value> = BTreeMap::new();
        for event in &life.events {
            let body: Value = serde_json::from_str(&event.body).unwrap();
            let object = &body["data"]["object"];
            let book = format!("{}{}", body["livemode"], body["account"]);
            let name = (book, object["id"].to_string());
            if let Some(told) = body["data"].get("previous_attributes")
                && let Some(before) = last.get(&name)
                // A refund that fails changes its charge, which no event of the charge tells.
                && event.kind != "charge.refunded"
            {
                updates += 1;
                assert_eq!(*told, previous(before, object), "{}", life.name);
            }
            last.insert(name, object.clone());
        }
    }
    assert!(updates > 1_000, "{updates}");
}

#[test]
fn lives_are_nasty() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for life in (0..1_000).map(Life::new) {
        let truth = &life.truths[0];
        let mut note = |what, holds: bool| *seen.entry(what).or_default() += usize::from(holds);
        let mut seconds: BTreeMap<i64, usize> = BTreeMap::new();
        for event in &life.events {
            *seconds.entry(event.created).or_default() += 1;
        }
        let has = |kind: &str| life.events.iter().any(|event| event.kind == kind);
        note("a full second", seconds.values().any(|count| *count > 3));
        note("a twin", life.truths.len() == 2);
        note("two subscriptions", truth.subscriptions.len() == 2);
        note("a deleted customer", truth.deleted);
        note("credits", truth.balance > 0);
        note("paid twice", !truth.paid_twice.is_empty());
        note("paid late", has("checkout.session.async_payment_succeeded"));
        note("never paid", has("checkout.session.async_payment_failed"));
        note("a refund", has("refund.created"));
        note("a refund that failed", has("refund.failed"));
        note("money withdrawn", has("charge.dispute.funds_withdrawn"));
        note("money reinstated", has("charge.dispute.funds_reinstated"));
        note("an end", has("customer.subscription.deleted"));
        note("a pause", has("customer.subscription.paused"));
        note("a trial", has("customer.subscription.trial_will_end"));
        let mut statuses = truth.subscriptions.values();
        note("dunning", statuses.any(|one| one.status == "past_due"));
    }
    assert!(
        seen.len() == 16 && seen.values().all(|count| *count > 5),
        "{seen:?}"
    );
}
