//! Credits and the money behind them: whatever announces a payment grants once, whatever
//! gives it back takes back once, in any order. The names L and M are those of the cases
//! that a ledger by event id gets wrong.

use serde_json::{Value, json};

use super::super::RejectKind;
use super::orders::one_end;
use super::story::{CUSTOMER, Event, USER, completed, over, session};
use super::world::World;

const PURCHASE: &str = "self:test:p1";
const PAYMENT: &str = "self:test:pi_a";

/// The session that sells the pack of 100 credits for 9.99 as purchase `p1`.
fn sale(at: i64) -> Event {
    let sale = session(
        "cs_a",
        json!({
            "mode": "payment", "payment_intent": "pi_a",
            "amount_subtotal": 999, "amount_total": 999,
            "metadata": { "sku": "pack_999", "purchase_id": "p1" },
        }),
    );
    completed("sale", at, sale)
}

pub(super) fn intent(id: &str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "pi_a", "object": "payment_intent", "status": "succeeded", "customer": CUSTOMER,
        "amount": 999, "amount_received": 999, "currency": "usd",
        "metadata": { "sku": "pack_999", "purchase_id": "p1", "user_id": USER },
    });
    Event::new(id, "payment_intent.succeeded", at, over(usual, fields))
}

pub(super) fn charge(id: &str, kind: &'static str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "ch_a", "object": "charge", "status": "succeeded", "paid": true,
        "captured": true, "payment_intent": "pi_a", "customer": CUSTOMER,
        "amount": 999, "amount_captured": 999, "amount_refunded": 0, "currency": "usd",
        "metadata": { "sku": "pack_999", "purchase_id": "p1", "user_id": USER },
    });
    Event::new(id, kind, at, over(usual, fields)).with("api_version", json!("2026-09-30.endive"))
}

fn refunded(id: &str, at: i64, total: i64) -> Event {
    charge(
        id,
        "charge.refunded",
        at,
        json!({ "amount_refunded": total }),
    )
}

pub(super) fn refund(
    id: &str,
    kind: &'static str,
    at: i64,
    refund: &str,
    amount: i64,
    status: &str,
) -> Event {
    let object = json!({
        "id": refund, "object": "refund", "charge": "ch_a", "payment_intent": "pi_a",
        "amount": amount, "currency": "usd", "status": status,
    });
    Event::new(id, kind, at, object)
}

pub(super) fn dispute(id: &str, kind: &'static str, at: i64, status: &str) -> Event {
    let object = json!({
        "id": "dp_1", "object": "dispute", "charge": "ch_a", "payment_intent": "pi_a",
        "amount": 999, "currency": "usd", "status": status,
    });
    Event::new(id, kind, at, object)
}

/// A formal dispute's first two events.
fn disputed() -> [Event; 2] {
    [
        dispute("d1", "charge.dispute.created", 20, "needs_response"),
        dispute("d2", "charge.dispute.funds_withdrawn", 20, "needs_response"),
    ]
}

fn flags(world: &World) -> &[String] {
    &world.purchases[PURCHASE].flags
}

fn once(world: &World) -> Vec<String> {
    let keys = world.once.iter();
    let mut once: Vec<_> = keys.map(|key| key.replace("self:test:", "")).collect();
    once.sort();
    once
}

#[test]
fn l1_session_intent_and_charge_of_one_payment_grant_once() {
    let events = [
        sale(10),
        intent("e2", 10, json!({})),
        charge("e3", "charge.succeeded", 10, json!({})),
        charge("e4", "charge.captured", 11, json!({})),
    ];
    let world = one_end("L1", &events);
    assert_eq!(world.balance(USER), 100);
    assert!(flags(&world).is_empty());
    assert_eq!(once(&world), ["credits:p1:pack", "receipt:p1"]);
}

#[test]
fn l1_an_intent_alone_opens_the_purchase_that_it_names_and_no_other() {
    let world = one_end("intent", &[intent("e1", 10, json!({}))]);
    assert_eq!(world.balance(USER), 100);
    let nameless = json!({ "metadata": { "sku": "pack_999", "user_id": USER } });
    let world = one_end("nameless", &[intent("e1", 10, nameless)]);
    assert_eq!(world.balance(USER), 0);
    assert!(world.purchases.is_empty());
    assert_eq!(world.payments[PAYMENT].captured(), Some((999, "usd")));
}

#[test]
fn tax_and_discount_are_explained_by_the_checkout_and_no_conflict() {
    for total in [500, 1_299] {
        let mut taxed = sale(10);
        taxed.body["data"]["object"]["amount_total"] = json!(total);
        let paid = json!({ "amount": total, "amount_received": total });
        let captured = json!({ "amount": total, "amount_captured": total });
        // Within the hour the payments wait for the checkout that explains them.
        let events = [
            taxed,
            intent("e2", 10, paid),
            charge("e3", "charge.succeeded", 10, captured),
        ];
        let world = one_end("tax", &events);
        assert_eq!(world.balance(USER), 100);
        assert!(flags(&world).is_empty() && world.rejected.is_empty());
        assert_eq!(once(&world), ["credits:p1:pack", "receipt:p1"]);
    }
}

#[test]
fn a_guests_payment_waits_for_the_checkout_that_names_him() {
    let mut guest = sale(10);
    guest.body["data"]["object"]["customer"] = Value::Null;
    let metadata = json!({ "sku": "pack_999", "purchase_id": "p1" });
    let nobody = json!({ "customer": null, "metadata": metadata });
    let events = [guest, intent("e2", 10, nobody.clone())];
    let world = one_end("guest", &events);
    assert_eq!(world.balance(USER), 100);
    assert!(world.rejected.is_empty());
    let mut late = World::at(10 + 3_600);
    late.take(&[intent("e2", 10, nobody)]);
    assert_eq!(late.rejected["e2"], RejectKind::UnlinkedPurchase);
}

#[test]
fn a_payment_that_nothing_explains_in_time_is_a_mismatch() {
    let cheap = json!({ "amount": 100, "amount_received": 100 });
    let mut world = World::at(10 + 3_600);
    world.take(&[intent("e1", 10, cheap.clone())]);
    assert_eq!(world.rejected["e1"], RejectKind::AmountMismatch);
    assert_eq!(flags(&world), ["amount_mismatch"]);
    assert_eq!(world.balance(USER), 0);
    // A checkout that comes even later than that settles it all the same.
    let mut late = sale(9);
    late.body["data"]["object"]["amount_total"] = json!(100);
    world.take(&[late]);
    assert_eq!(world.balance(USER), 100);
    assert!(flags(&world).is_empty());
    let mut young = World::at(10 + 3_599);
    young.take(&[intent("e1", 10, cheap)]);
    assert!(young.rejected.is_empty() && young.purchases.is_empty());
}

#[test]
fn l3_a_full_refund_in_three_events_takes_all_back_once() {
    let events = [
        sale(10),
        refund("r1", "refund.created", 20, "re_1", 999, "pending"),
        refunded("r2", 20, 999),
        refund("r3", "refund.updated", 20, "re_1", 999, "succeeded"),
    ];
    let world = one_end("L3", &events);
    assert_eq!(world.balance(USER), 0);
    assert!(flags(&world).is_empty());
    assert_eq!(world.purchases[PURCHASE].reversed, 100);
    assert_eq!(
        once(&world),
        ["credits:p1:pack", "receipt:p1", "reversed:re_1"]
    );
}

#[test]
fn l4_and_l5_partial_refunds_round_down_and_the_last_takes_the_rest() {
    let thirds = |n: i64| {
        let refund = |n| {
            let id = format!("re_{n}");
            refund(
                &format!("r{n}"),
                "refund.created",
                20 + n,
                &id,
                333,
                "succeeded",
            )
        };
        let events: Vec<Event> = [sale(10)].into_iter().chain((0..n).map(refund)).collect();
        events
    };
    assert_eq!(one_end("L4", &thirds(2)).balance(USER), 34);
    assert_eq!(one_end("L5", &thirds(3)).balance(USER), 0);
}

#[test]
fn l6_a_refund_that_failed_gives_the_credits_again() {
    let events = [
        sale(10),
        refund("r1", "refund.created", 20, "re_1", 999, "pending"),
        refunded("r2", 20, 999),
        refund("r3", "refund.failed", 90, "re_1", 999, "failed"),
    ];
    let world = one_end("L6", &events);
    assert_eq!(world.balance(USER), 100);
    assert!(flags(&world).is_empty());
    let told = [
        "credits:p1:pack",
        "receipt:p1",
        "reversed:re_1",
        "reversed:re_1:failed",
    ];
    assert_eq!(once(&world), told);
    let kinds: Vec<&str> = world
        .entries
        .values()
        .map(|entry| entry.kind.as_str())
        .collect();
    assert_eq!(kinds, ["grant", "refund", "refund_failed"]);
}

#[test]
fn l7_a_dispute_that_is_lost_takes_all_back() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.closed", 90, "lost"),
    ];
    let world = one_end("L7", &events);
    assert_eq!(world.balance(USER), 0);
    assert!(!world.purchases[PURCHASE].held);
}

#[test]
fn l8_a_dispute_that_is_won_gives_all_back() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.funds_reinstated", 90, "under_review"),
        dispute("d4", "charge.dispute.closed", 90, "won"),
    ];
    let world = one_end("L8", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(
        world.payments[PAYMENT].disputes[0]
            .current
            .status
            .as_deref(),
        Some("won")
    );
    let told = [
        "credits:p1:pack",
        "receipt:p1",
        "reversed:dp_1",
        "reversed:dp_1:reinstated",
    ];
    assert_eq!(once(&world), told);
}

#[test]
fn l8_money_withdrawn_once_more_after_it_came_back_is_gone() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.funds_reinstated", 90, "under_review"),
        dispute("d4", "charge.dispute.funds_withdrawn", 120, "lost"),
    ];
    assert_eq!(one_end("again", &events).balance(USER), 0);
}

#[test]
fn l9_an_inquiry_moves_nothing_and_a_dispute_holds_until_it_is_closed() {
    let inquiry = [
        sale(10),
        dispute("d1", "charge.dispute.created", 20, "warning_needs_response"),
        dispute("d2", "charge.dispute.closed", 90, "warning_closed"),
    ];
    let world = one_end("L9", &inquiry);
    assert_eq!(world.balance(USER), 100);
    assert!(!world.purchases[PURCHASE].held);
    let [created, _] = disputed();
    let world = one_end("hold", &[sale(10), created]);
    assert_eq!(world.balance(USER), 100);
    assert!(world.purchases[PURCHASE].held);
}

#[test]
fn l11_a_refund_and_a_dispute_of_one_payment_take_back_no_more_than_was_granted() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        refund("r1", "refund.created", 15, "re_1", 999, "succeeded"),
        created,
        withdrawn,
    ];
    let world = one_end("L11", &events);
    assert_eq!(world.balance(USER), 0);
    assert_eq!(world.purchases[PURCHASE].reversed, 100);
}

#[test]
fn m2_the_refund_of_a_second_payment_takes_nothing_away() {
    let second = json!({
        "id": "pi_b", "metadata": { "sku": "pack_999", "purchase_id": "p1", "user_id": USER },
    });
    let mut back = refund("r1", "refund.created", 30, "re_1", 999, "succeeded");
    back.body["data"]["object"]["payment_intent"] = json!("pi_b");
    let events = [sale(10), intent("e2", 12, second), back.clone()];
    let world = one_end("M2", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(flags(&world), ["second_payment"]);
    let mut first = refund("r2", "refund.created", 31, "re_2", 999, "succeeded");
    first.body["data"]["object"]["payment_intent"] = json!("pi_a");
    let both = World::after(&[events.as_slice(), &[first]].concat());
    assert_eq!(both.balance(USER), 0);
}

#[test]
fn m3_a_refund_without_its_grant_is_kept_flagged_and_takes_effect_when_it_comes() {
    let alone = [refund("r1", "refund.created", 20, "re_1", 333, "succeeded")];
    let world = one_end("M3", &alone);
    assert_eq!(world.balance(USER), 0);
    assert_eq!(world.payments[PAYMENT].flags, ["refund_without_grant"]);
    let world = one_end("M3 later", &[alone[0].clone(), sale(10)]);
    assert_eq!(world.balance(USER), 67);
    assert!(world.payments[PAYMENT].flags.is_empty());
}

#[test]
fn m4_a_running_total_stands_in_for_refunds_that_are_not_known() {
    let total = [sale(10), refunded("r1", 20, 500)];
    let world = one_end("M4", &total);
    assert_eq!(world.balance(USER), 50);
    assert_eq!(flags(&world), ["refund_detail_missing"]);
    assert_eq!(once(&world), ["credits:p1:pack", "receipt:p1"]);
    // The details replace it, though they round otherwise.
    let details = [
        total[0].clone(),
        total[1].clone(),
        refund("r2", "refund.created", 19, "re_1", 250, "succeeded"),
        refund("r3", "refund.created", 20, "re_2", 250, "succeeded"),
    ];
    let world = one_end("M4 details", &details);
    assert_eq!(world.balance(USER), 50);
    assert!(flags(&world).is_empty());
}

#[test]
fn m4_in_an_old_version_the_running_total_is_all_there_is_and_is_told() {
    let old = |id, at, total| refunded(id, at, total).with("api_version", json!("2022-11-15"));
    let world = one_end("old", &[sale(10), old("r1", 20, 333), old("r2", 30, 999)]);
    assert_eq!(world.balance(USER), 0);
    let told = [
        "credits:p1:pack",
        "receipt:p1",
        "reversed:ch_a:333",
        "reversed:ch_a:999",
    ];
    assert_eq!(once(&world), told);
    let listing = |id: &str, status: &str| {
        let refund = json!({ "id": "re_1", "object": "refund", "amount": 333, "status": status });
        let list = json!({ "object": "list", "data": [refund] });
        let fields = json!({ "amount_refunded": 333, "refunds": list });
        charge(id, "charge.refunded", 20, fields).with("api_version", json!("2020-08-27"))
    };
    let world = one_end("listed", &[sale(10), listing("r1", "succeeded")]);
    assert_eq!(world.balance(USER), 67);
    assert!(flags(&world).is_empty());
    assert!(once(&world).contains(&"reversed:re_1".to_owned()));
}

#[test]
fn a_partial_capture_is_what_refunds_are_measured_by() {
    let part = json!({ "amount_captured": 500 });
    let events = [
        sale(10),
        charge("e2", "charge.succeeded", 10, part),
        refund("r1", "refund.created", 20, "re_1", 250, "succeeded"),
    ];
    assert_eq!(one_end("partial", &events).balance(USER), 50);
}

#[test]
fn more_than_was_paid_takes_back_no_more_than_was_granted_and_is_flagged() {
    let events = [
        sale(10),
        refund("r1", "refund.created", 20, "re_1", 5_000, "succeeded"),
    ];
    let world = one_end("too much", &events);
    assert_eq!(world.balance(USER), 0);
    assert_eq!(flags(&world), ["refunded_more_than_paid"]);
    let mut foreign = refund("r1", "refund.created", 20, "re_1", 999, "succeeded");
    foreign.body["data"]["object"]["currency"] = json!("eur");
    let world = one_end("currency", &[sale(10), foreign]);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(flags(&world), ["reversal_currency"]);
}

#[test]
fn the_refund_of_one_purchase_leaves_another_alone() {
    let mut other = sale(11);
    other.id = "sale2".to_owned();
    let object = &mut other.body["data"]["object"];
    object["id"] = json!("cs_b");
    object["payment_intent"] = json!("pi_b");
    object["metadata"]["purchase_id"] = json!("p2");
    let events = [
        sale(10),
        other,
        refund("r1", "refund.created", 20, "re_1", 999, "succeeded"),
    ];
    let world = one_end("two", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(world.purchases["self:test:p2"].reversed, 0);
}

#[test]
fn a_free_purchase_has_nothing_to_give_back() {
    let mut free = sale(10);
    let object = &mut free.body["data"]["object"];
    object["payment_intent"] = Value::Null;
    object["amount_total"] = json!(0);
    object["payment_status"] = json!("no_payment_required");
    let mut back = refund("r1", "refund.created", 20, "re_1", 1, "succeeded");
    back.body["data"]["object"]["payment_intent"] = json!("cs_a");
    assert_eq!(one_end("free", &[free, back]).balance(USER), 100);
}
