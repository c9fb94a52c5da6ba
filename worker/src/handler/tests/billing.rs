//! Invoices and schedules: facts that never become a subscription's status.

use serde_json::{Value, json};

use super::orders::one_end;
use super::story::{
    CUSTOMER, Event, USER, completed, created, deleted, over, session, subscription, updated,
};
use super::world::World;

pub(super) fn invoice(id: &str, kind: &'static str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "in_1", "object": "invoice", "customer": CUSTOMER, "status": "open",
        "billing_reason": "subscription_cycle", "currency": "usd", "amount_due": 1_900,
        "amount_paid": 0, "amount_remaining": 1_900, "attempt_count": 1,
        "customer_email": "jenny.rosen@example.com", "number": "ABC-1",
        "parent": { "subscription_details": { "subscription": "sub_1" } },
    });
    Event::new(id, kind, at, over(usual, fields))
}

fn paid() -> Value {
    json!({ "status": "paid", "amount_paid": 1_900, "amount_remaining": 0, "attempt_count": 2 })
}

fn link() -> Event {
    completed(
        "link",
        5,
        session("cs_1", json!({ "subscription": "sub_1" })),
    )
}

fn once(world: &World) -> Vec<String> {
    let keys = world.once.iter();
    let mut once: Vec<_> = keys.map(|key| key.replace("self:test:", "")).collect();
    once.sort();
    once
}

#[test]
fn s07_dunning_ends_active_and_tells_of_the_failure_and_the_receipt_once() {
    let past_due = json!({ "status": "past_due" });
    let events = [
        created("e1", 10, subscription("sub_1", json!({}))),
        invoice("e2", "invoice.payment_failed", 50, json!({})),
        updated(
            "e3",
            50,
            subscription("sub_1", past_due.clone()),
            json!({ "status": "active" }),
        ),
        invoice("e4", "invoice.paid", 60, paid()),
        invoice("e5", "invoice.payment_succeeded", 60, paid()),
        updated("e6", 60, subscription("sub_1", json!({})), past_due),
        link(),
    ];
    let world = one_end("S07", &events);
    assert!(world.customers["self:test:cus_1"].entitlement.entitled);
    assert_eq!(world.subscriptions["self:test:sub_1"].status, "active");
    let invoice = &world.invoices["self:test:in_1"];
    assert!(invoice.paid && invoice.terminal && !invoice.provisional);
    assert_eq!(invoice.current.subscription_id.as_deref(), Some("sub_1"));
    let told = ["payment_failed:in_1:1", "receipt:in_1", "welcome:sub_1"];
    assert_eq!(once(&world), told);
}

#[test]
fn a_paid_invoice_never_makes_a_subscription_active() {
    for status in ["trialing", "unpaid", "paused", "canceled"] {
        let events = [
            link(),
            created("e1", 10, subscription("sub_1", json!({ "status": status }))),
            invoice("e2", "invoice.paid", 99, paid()),
        ];
        let world = one_end(status, &events);
        assert_eq!(world.subscriptions["self:test:sub_1"].status, status);
    }
}

#[test]
fn each_attempt_that_fails_is_told_once_however_many_events_tell_of_it() {
    let attempt = |id: &str, at, count: i64| {
        let fields = json!({ "attempt_count": count });
        invoice(id, "invoice.payment_failed", at, fields)
    };
    let events = [
        link(),
        attempt("e1", 10, 1),
        attempt("e2", 10, 1),
        attempt("e3", 500, 2),
        invoice(
            "e4",
            "invoice.marked_uncollectible",
            900,
            json!({ "status": "uncollectible" }),
        ),
    ];
    let world = one_end("attempts", &events);
    assert_eq!(
        once(&world),
        ["payment_failed:in_1:1", "payment_failed:in_1:2"]
    );
    let shown = &world.invoices["self:test:in_1"];
    assert_eq!(shown.current.status.as_deref(), Some("uncollectible"));
    assert!(!shown.terminal);
}

#[test]
fn an_invoice_of_nothing_has_no_receipt_and_a_void_one_stays_void() {
    let nothing = json!({ "status": "paid", "amount_due": 0, "amount_paid": 0 });
    let world = one_end(
        "zero",
        &[link(), invoice("e1", "invoice.paid", 10, nothing)],
    );
    assert!(once(&world).is_empty());
    let events = [
        invoice("e1", "invoice.finalized", 10, json!({})),
        invoice("e2", "invoice.voided", 20, json!({ "status": "void" })),
        invoice("e3", "invoice.payment_failed", 25, json!({})),
    ];
    let world = one_end("void", &events);
    let shown = &world.invoices["self:test:in_1"];
    assert_eq!(shown.current.status.as_deref(), Some("void"));
}

#[test]
fn what_an_invoice_has_to_tell_waits_for_the_user_and_names_him() {
    let events = [invoice("e1", "invoice.paid", 10, paid()), link()];
    let world = one_end("owed", &events);
    assert_eq!(once(&world), ["receipt:in_1"]);
    assert!(world.customers["self:test:cus_1"].owed.is_empty());
    for order in [[0, 1], [1, 0]] {
        let world = World::after(order.map(|n| &events[n]));
        let told = &world.told["self:test:receipt:in_1"];
        assert_eq!(told.get_str("userId").unwrap(), USER);
        assert_eq!(told.get_i64("amount").unwrap(), 1_900);
    }
    let world = one_end("nobody", &events[..1]);
    assert!(once(&world).is_empty());
    let nobody = json!({ "customer": null, "status": "paid", "amount_paid": 1_900 });
    let world = one_end("no customer", &[invoice("e1", "invoice.paid", 10, nobody)]);
    assert_eq!(once(&world), ["receipt:in_1"]);
}

#[test]
fn more_messages_than_may_wait_go_out_without_a_user_rather_than_never() {
    let mut world = World::default();
    for n in 0..150 {
        let mut event = invoice(&format!("e{n}"), "invoice.paid", 10, paid());
        event.body["data"]["object"]["id"] = json!(format!("in_{n}"));
        world.take(&[event]);
    }
    assert_eq!(world.once.len(), 50);
    world.take(&[link()]);
    assert_eq!(world.once.len(), 150);
}

pub(super) fn schedule(id: &str, kind: &'static str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "sub_sched_1", "object": "subscription_schedule", "customer": CUSTOMER,
        "status": "active", "subscription": "sub_1", "end_behavior": "release",
        "current_phase": { "start_date": 0, "end_date": 1_000 },
        "phases": [
            { "start_date": 0, "end_date": 1_000 }, { "start_date": 1_000, "end_date": 2_000 },
        ],
    });
    Event::new(id, kind, at, over(usual, fields))
}

#[test]
fn a_schedule_shows_what_is_planned_and_changes_nothing() {
    let events = [
        link(),
        created("e1", 10, subscription("sub_1", json!({}))),
        schedule("e2", "subscription_schedule.created", 20, json!({})),
    ];
    let world = one_end("schedule", &events);
    let view = &world.customers["self:test:cus_1"].entitlement;
    assert!(view.entitled && view.ends_at.is_none());
    assert_eq!(view.changes_at.unwrap().timestamp_millis(), 1_000_000);
    let cancels = json!({ "end_behavior": "cancel" });
    let updated = schedule("e3", "subscription_schedule.updated", 20, cancels)
        .from(json!({ "end_behavior": "release" }));
    let events = [&events[..], &[updated]].concat();
    let world = one_end("cancels", &events);
    let view = &world.customers["self:test:cus_1"].entitlement;
    assert_eq!(view.ends_at.unwrap().timestamp_millis(), 2_000_000);
}

#[test]
fn a_schedule_that_is_over_plans_nothing_whichever_way_it_ended() {
    for (kind, status) in [
        ("subscription_schedule.released", "released"),
        ("subscription_schedule.completed", "completed"),
        ("subscription_schedule.canceled", "canceled"),
        ("subscription_schedule.aborted", "canceled"),
    ] {
        let over = json!({
            "status": status, "subscription": null, "released_subscription": "sub_1",
        });
        let events = [
            link(),
            created("e1", 10, subscription("sub_1", json!({}))),
            schedule("e2", "subscription_schedule.created", 20, json!({})),
            schedule("e3", kind, 30, over),
            schedule("e4", "subscription_schedule.updated", 30, json!({})),
        ];
        let world = one_end(kind, &events);
        let view = &world.customers["self:test:cus_1"].entitlement;
        assert_eq!((view.changes_at, view.ends_at), (None, None));
    }
}

#[test]
fn a_schedule_of_one_subscription_says_nothing_of_another() {
    let events = [
        link(),
        created("e1", 10, subscription("sub_2", json!({}))),
        deleted("e3", 30, subscription("sub_1", json!({}))),
        schedule("e2", "subscription_schedule.created", 20, json!({})),
    ];
    let world = one_end("other", &events);
    let view = &world.customers["self:test:cus_1"].entitlement;
    assert!(view.entitled && view.changes_at.is_none());
}
