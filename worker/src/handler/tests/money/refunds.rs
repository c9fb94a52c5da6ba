//! What gives money back: refunds, whole and in parts, and running totals of them.

use serde_json::{Value, json};

use super::super::orders::one_end;
use super::super::story::{Event, USER};
use super::super::world::World;
use super::{PAYMENT, PURCHASE, charge, flags, intent, once, refund, refunded, sale};

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

#[test]
fn a_refund_that_failed_hides_no_later_one_where_only_totals_are_told() {
    let old = |id, at| refunded(id, at, 999).with("api_version", json!("2022-11-15"));
    let failed = refund("r2", "charge.refund.updated", 30, "re_1", 999, "failed");
    let events = [sale(10), old("r1", 20), failed, old("r3", 40)];
    assert_eq!(one_end("until it failed", &events[..3]).balance(USER), 100);
    assert_eq!(one_end("and again", &events).balance(USER), 0);
}
