//! The ordinary histories of a subscription in which a timestamp guard goes wrong.

use serde_json::{Value, json};

use super::orders::one_end;
use super::story::{
    CUSTOMER, Event, USER, completed, created, deleted, items, session, subscription, updated,
};
use super::world::World;

/// What is true at the end of a story about `sub_1`.
struct Truth {
    status: &'static str,
    entitled: bool,
    provisional: bool,
    once: &'static [&'static str],
}

fn check(name: &str, events: &[Event], truth: &Truth) -> World {
    let world = one_end(name, events);
    let subscription = &world.subscriptions["self:test:sub_1"];
    let customer = &world.customers["self:test:cus_1"];
    assert_eq!(subscription.provisional, truth.provisional, "{name}");
    if !truth.provisional {
        assert_eq!(subscription.status, truth.status, "{name}");
    }
    assert_eq!(customer.entitlement.entitled, truth.entitled, "{name}");
    assert_eq!(
        customer.entitlement.provisional, truth.provisional,
        "{name}"
    );
    let mut once: Vec<_> = world
        .once
        .iter()
        .map(|key| key.replace("self:test:", ""))
        .collect();
    once.sort();
    assert_eq!(once, truth.once, "{name}");
    let (_, told) = &world.states["self:test:entitlement:cus_1"];
    assert_eq!(told.get_bool("entitled").unwrap(), truth.entitled, "{name}");
    world
}

const ACTIVE: Truth = Truth {
    status: "active",
    entitled: true,
    provisional: false,
    once: &["welcome:sub_1"],
};
const CANCELED: Truth = Truth {
    status: "canceled",
    entitled: false,
    provisional: false,
    once: &["canceled:sub_1", "welcome:sub_1"],
};

fn sub(fields: Value) -> Value {
    subscription("sub_1", fields)
}

fn checkout(id: &str, at: i64) -> Event {
    completed(id, at, session("cs_1", json!({ "subscription": "sub_1" })))
}

fn invoice(id: &str, kind: &'static str, at: i64) -> Event {
    Event::new(
        id,
        kind,
        at,
        json!({ "id": "in_1", "object": "invoice", "customer": CUSTOMER }),
    )
}

#[test]
fn s01_and_s02_a_checkout_in_the_same_second_or_the_next() {
    for second in [10, 11] {
        let events = [
            created("e1", 10, sub(json!({ "status": "incomplete" }))),
            updated("e2", 10, sub(json!({})), json!({ "status": "incomplete" })),
            checkout("e3", second),
        ];
        let world = check("S01/S02", &events, &ACTIVE);
        let customer = &world.customers["self:test:cus_1"];
        assert_eq!(customer.user_id.as_deref(), Some(USER));
        assert_eq!(customer.entitlement.plan.as_deref(), Some("pro"));
        assert_eq!(
            customer.entitlement.until.unwrap().timestamp_millis(),
            1_000_000
        );
    }
}

#[test]
fn s03_a_trial_stays_a_trial() {
    let trial = json!({ "status": "trialing", "trial_end": 900 });
    let events = [created("e1", 10, sub(trial)), checkout("e2", 10)];
    let truth = Truth {
        status: "trialing",
        ..ACTIVE
    };
    check("S03", &events, &truth);
}

#[test]
fn s04_what_is_over_is_not_brought_back_by_a_late_checkout() {
    let events = [
        checkout("e1", 10),
        created("e2", 10, sub(json!({}))),
        deleted("e3", 30, sub(json!({}))),
    ];
    check("S04", &events, &CANCELED);
}

#[test]
fn s05_and_s06_a_renewal_moves_the_period_whenever_its_invoice_is_paid() {
    for paid in [103, 100] {
        let events = [
            checkout("e1", 10),
            created("e2", 10, sub(json!({}))),
            updated(
                "e3",
                100,
                sub(json!({ "items": items(2_000) })),
                json!({ "items": items(1_000) }),
            ),
            invoice("e4", "invoice.paid", paid),
        ];
        let world = check("S05/S06", &events, &ACTIVE);
        let until = world.customers["self:test:cus_1"]
            .entitlement
            .until
            .unwrap();
        assert_eq!(until.timestamp_millis(), 2_000_000);
    }
}

#[test]
fn s07_dunning_that_ends_well() {
    let past_due = sub(json!({ "status": "past_due" }));
    let events = [
        checkout("e1", 10),
        created("e2", 10, sub(json!({}))),
        invoice("e3", "invoice.payment_failed", 50),
        updated("e4", 50, past_due, json!({ "status": "active" })),
        invoice("e5", "invoice.paid", 60),
        updated("e6", 60, sub(json!({})), json!({ "status": "past_due" })),
    ];
    let truth = Truth {
        once: &["payment_failed:in_1:50", "welcome:sub_1"],
        ..ACTIVE
    };
    check("S07", &events, &truth);
}

#[test]
fn s08_one_subscription_ends_and_another_goes_on() {
    let other = session("cs_2", json!({ "subscription": "sub_2" }));
    let events = [
        checkout("e1", 10),
        completed("e2", 15, other),
        created("e3", 15, subscription("sub_2", json!({}))),
        deleted("e4", 20, sub(json!({}))),
    ];
    let world = one_end("S08", &events);
    let entitlement = &world.customers["self:test:cus_1"].entitlement;
    assert!(entitlement.entitled && !entitlement.provisional);
    assert_eq!(entitlement.subscription_id.as_deref(), Some("sub_2"));
    assert_eq!(world.subscriptions["self:test:sub_1"].status, "canceled");
}

#[test]
fn s09_two_changes_of_one_second_are_told_apart_by_what_they_changed() {
    let basic = json!({ "plan": "basic" });
    let plan_changed = sub(json!({ "metadata": { "plan": "team" } }));
    let both = sub(json!({ "metadata": { "plan": "team" }, "cancel_at_period_end": true }));
    let events = [
        checkout("e1", 5),
        updated("e9", 10, plan_changed, json!({ "metadata": basic })),
        updated("e2", 10, both, json!({ "cancel_at_period_end": false })),
    ];
    let world = check("S09", &events, &ACTIVE);
    let entitlement = &world.customers["self:test:cus_1"].entitlement;
    assert_eq!(entitlement.plan.as_deref(), Some("team"));
    assert_eq!(entitlement.ends_at, entitlement.until);
}

#[test]
fn s10_a_notice_that_a_trial_ends_does_not_hide_its_end() {
    let trial = sub(json!({ "status": "trialing" }));
    let notice = "customer.subscription.trial_will_end";
    let events = [
        checkout("e1", 5),
        Event::new("e9", notice, 10, trial),
        updated("e2", 10, sub(json!({})), json!({ "status": "trialing" })),
    ];
    check("S10", &events, &ACTIVE);
}

#[test]
fn s11_there_and_back_in_one_second_is_flagged_and_takes_nothing_away() {
    let on = sub(json!({ "cancel_at_period_end": true }));
    let events = [
        checkout("e1", 5),
        updated("e2", 10, on, json!({ "cancel_at_period_end": false })),
        updated(
            "e3",
            10,
            sub(json!({})),
            json!({ "cancel_at_period_end": true }),
        ),
    ];
    let truth = Truth {
        provisional: true,
        ..ACTIVE
    };
    check("S11", &events, &truth);
}

#[test]
fn access_is_not_taken_away_while_the_order_of_a_second_can_not_be_told() {
    let unpaid = sub(json!({ "status": "unpaid" }));
    let events = [
        checkout("e1", 5),
        updated("e9", 10, unpaid, json!({ "status": "active" })),
        updated("e3", 10, sub(json!({})), json!({ "status": "unpaid" })),
    ];
    let truth = Truth {
        provisional: true,
        ..ACTIVE
    };
    let world = check("unpaid and paid", &events, &truth);
    assert_eq!(world.subscriptions["self:test:sub_1"].status, "unpaid");
}

#[test]
fn s12_what_was_never_paid_never_began() {
    let incomplete = json!({ "status": "incomplete" });
    let unpaid = json!({ "subscription": "sub_1", "payment_status": "unpaid" });
    let events = [
        completed("e1", 10, session("cs_1", unpaid)),
        created("e2", 10, sub(incomplete.clone())),
        updated(
            "e3",
            90,
            sub(json!({ "status": "incomplete_expired" })),
            incomplete,
        ),
    ];
    let truth = Truth {
        status: "incomplete_expired",
        once: &[],
        ..CANCELED
    };
    check("S12", &events, &truth);
}

#[test]
fn s13_a_subscription_without_a_checkout_is_the_users_by_its_metadata() {
    let metadata = json!({ "plan": "pro", "user_id": USER });
    let events = [
        created(
            "e1",
            10,
            sub(json!({ "metadata": metadata, "status": "incomplete" })),
        ),
        updated(
            "e2",
            10,
            sub(json!({ "metadata": metadata })),
            json!({ "status": "incomplete" }),
        ),
    ];
    let world = check("S13", &events, &ACTIVE);
    assert_eq!(
        world.customers["self:test:cus_1"].user_id.as_deref(),
        Some(USER)
    );
}

#[test]
fn s13_without_any_link_it_gives_access_to_the_customer_and_greets_nobody() {
    let truth = Truth {
        once: &[],
        ..ACTIVE
    };
    let world = check("S13", &[created("e1", 10, sub(json!({})))], &truth);
    assert_eq!(world.customers["self:test:cus_1"].user_id, None);
}

#[test]
fn s14_a_deletion_wins_against_an_update_of_its_second() {
    let flagged = json!({ "cancel_at_period_end": true });
    let events = [
        checkout("e1", 5),
        updated(
            "e9",
            10,
            sub(flagged.clone()),
            json!({ "cancel_at_period_end": false }),
        ),
        deleted("e2", 10, sub(flagged)),
    ];
    check("S14", &events, &CANCELED);
}

#[test]
fn a_pause_takes_access_away_and_a_resumption_gives_it_back() {
    let paused = || sub(json!({ "status": "paused" }));
    let mut events = vec![
        checkout("e1", 5),
        created("e2", 5, sub(json!({ "status": "trialing" }))),
        updated("e3", 10, paused(), json!({ "status": "trialing" })),
        Event::new("e4", "customer.subscription.paused", 10, paused()),
    ];
    let truth = Truth {
        status: "paused",
        entitled: false,
        ..ACTIVE
    };
    check("paused", &events, &truth);
    events.push(updated(
        "e5",
        20,
        sub(json!({})),
        json!({ "status": "paused" }),
    ));
    events.push(Event::new(
        "e6",
        "customer.subscription.resumed",
        20,
        sub(json!({})),
    ));
    check("resumed", &events, &ACTIVE);
}

#[test]
fn a_deleted_customer_has_nothing_whatever_comes_late() {
    let customer = json!({ "id": CUSTOMER, "object": "customer", "metadata": {} });
    let events = [
        checkout("e1", 5),
        Event::new("e2", "customer.created", 5, customer.clone()),
        created("e3", 5, sub(json!({}))),
        Event::new("e4", "customer.deleted", 30, customer),
        deleted("e5", 30, sub(json!({}))),
    ];
    check("customer deleted", &events, &CANCELED);
    let world = one_end("its subscription's end is lost", &events[..4]);
    assert!(!world.customers["self:test:cus_1"].entitlement.entitled);
}

#[test]
fn of_two_subscriptions_the_better_one_is_shown() {
    let events = [
        checkout("e1", 5),
        created(
            "e2",
            5,
            sub(json!({ "status": "past_due", "items": items(9_000) })),
        ),
        created(
            "e3",
            5,
            subscription("sub_2", json!({ "metadata": { "plan": "team" } })),
        ),
        created(
            "e4",
            5,
            subscription(
                "sub_3",
                json!({ "status": "unpaid", "items": items(9_999) }),
            ),
        ),
    ];
    let world = one_end("two subscriptions", &events);
    let entitlement = &world.customers["self:test:cus_1"].entitlement;
    assert_eq!(entitlement.plan.as_deref(), Some("team"));
    assert_eq!(entitlement.status.as_deref(), Some("active"));
}

#[test]
fn a_status_nobody_knows_yet_is_kept_and_flagged_and_gives_no_access() {
    let events = [
        checkout("e1", 5),
        created("e2", 5, sub(json!({ "status": "hibernating" }))),
    ];
    let truth = Truth {
        status: "hibernating",
        entitled: false,
        provisional: false,
        once: &[],
    };
    let world = check("unknown", &events, &truth);
    assert!(world.subscriptions["self:test:sub_1"].status_unknown);
}
