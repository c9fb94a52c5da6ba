//! Credits: one grant a purchase, whatever announces it, in any order.

use serde_json::{Value, json};

use super::super::RejectKind;
use super::orders::one_end;
use super::story::{Event, USER, completed, session};
use super::world::World;

const PURCHASE: &str = "self:test:p1";

/// A session that sells one pack as purchase `p1`, with these fields over the usual ones.
fn sale(id: &str, fields: Value) -> Value {
    let mut sale = session(
        id,
        json!({
            "mode": "payment", "payment_intent": format!("pi_{id}"),
            "metadata": { "sku": "pack_100", "purchase_id": "p1" },
        }),
    );
    if let (Some(sale), Value::Object(fields)) = (sale.as_object_mut(), fields) {
        sale.extend(fields);
    }
    sale
}

fn pack(metadata: Value) -> Value {
    json!({ "metadata": metadata })
}

fn succeeded(id: &str, at: i64, session: Value) -> Event {
    Event::new(id, "checkout.session.async_payment_succeeded", at, session)
}

fn flags(world: &World) -> Vec<&str> {
    world.purchases[PURCHASE]
        .flags
        .iter()
        .map(String::as_str)
        .collect()
}

fn once(world: &World) -> Vec<String> {
    let mut once: Vec<_> = world
        .once
        .iter()
        .map(|key| key.replace("self:test:", ""))
        .collect();
    once.sort();
    once
}

#[test]
fn l1_two_events_of_one_purchase_grant_once() {
    let events = [
        completed("e1", 10, sale("a", json!({}))),
        succeeded("e2", 10, sale("a", json!({}))),
    ];
    let world = one_end("L1", &events);
    assert_eq!(world.balance(USER), 100);
    assert!(flags(&world).is_empty());
    assert_eq!(once(&world), ["credits:p1:pack", "receipt:p1"]);
}

#[test]
fn l2_another_purchase_grants_again() {
    let second = pack(json!({ "sku": "pack_100", "purchase_id": "p2" }));
    let events = [
        completed("e1", 10, sale("a", json!({}))),
        completed("e2", 10, sale("b", second)),
    ];
    assert_eq!(one_end("L2", &events).balance(USER), 200);
}

#[test]
fn l10_an_unpaid_session_waits_for_its_payment() {
    let unpaid = || sale("a", json!({ "payment_status": "unpaid" }));
    let events = [
        completed("e1", 10, unpaid()),
        succeeded("e2", 90, sale("a", json!({}))),
    ];
    assert_eq!(one_end("L10", &events[..1]).balance(USER), 0);
    assert_eq!(one_end("L10", &events).balance(USER), 100);
    let failed = "checkout.session.async_payment_failed";
    let events = [
        completed("e1", 10, unpaid()),
        Event::new("e2", failed, 90, unpaid()),
    ];
    let world = one_end("L10 failed", &events);
    assert_eq!(world.balance(USER), 0);
    assert!(world.checkouts["self:test:a"].current.failed);
    assert!(once(&world).is_empty());
}

#[test]
fn m1_another_amount_changes_nothing_and_is_a_conflict() {
    let cheap = json!({ "amount_subtotal": 100, "amount_total": 100 });
    for (first, second) in [(10, 20), (20, 10), (10, 10)] {
        let events = [
            completed("e1", first, sale("a", json!({}))),
            completed("e2", second, sale("b", cheap.clone())),
        ];
        let world = one_end("M1", &events);
        assert_eq!(world.balance(USER), 100);
        assert_eq!(
            flags(&world),
            ["amount_mismatch", "second_payment", "versions_differ"]
        );
        assert_eq!(world.rejected["e2"], RejectKind::AmountMismatch);
        assert_eq!(
            once(&world),
            ["conflict:p1", "credits:p1:pack", "receipt:p1"]
        );
    }
}

#[test]
fn m1_the_wrong_amount_alone_grants_nothing() {
    for wrong in [
        json!({ "amount_subtotal": 1_899 }),
        json!({ "currency": "eur" }),
        json!({ "amount_subtotal": null, "amount_total": null }),
        pack(json!({ "sku": "pack_100", "purchase_id": "p1", "quantity": "2" })),
        pack(json!({ "sku": "pack_100", "purchase_id": "p1", "quantity": "-1" })),
        pack(json!({ "sku": "pack_100", "purchase_id": "p1", "quantity": "9223372036854775807" })),
    ] {
        let world = one_end("mismatch", &[completed("e1", 10, sale("a", wrong))]);
        assert_eq!(world.balance(USER), 0);
        assert_eq!(flags(&world), ["amount_mismatch"]);
        assert_eq!(once(&world), ["conflict:p1"]);
        assert_eq!(world.rejected["e1"], RejectKind::AmountMismatch);
    }
}

#[test]
fn two_versions_that_both_fit_grant_the_older_one_in_any_order() {
    let three = json!({
        "amount_subtotal": 5_700, "amount_total": 5_700,
        "metadata": { "sku": "pack_100", "purchase_id": "p1", "quantity": "3" },
    });
    let other_user = json!({ "client_reference_id": "user_2" });
    let events = [
        completed("e1", 20, sale("a", three)),
        completed("e2", 30, sale("b", other_user)),
        completed("e3", 10, sale("c", json!({}))),
    ];
    let world = one_end("versions", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(world.balance("user_2"), 0);
    assert_eq!(flags(&world), ["second_payment", "versions_differ"]);
}

#[test]
fn m2_two_payments_of_one_purchase_grant_once_and_are_flagged() {
    let events = [
        completed("e1", 10, sale("a", json!({}))),
        completed("e2", 11, sale("b", json!({}))),
    ];
    let world = one_end("M2", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(flags(&world), ["second_payment"]);
}

#[test]
fn a_payment_pays_one_purchase_only() {
    // The first to claim it has it; what the other was granted before goes back. The one
    // case in which the set of messages depends on order: `credits.granted` of the loser
    // went out if it came first. Both purchases are in conflict in every order.
    let second = json!({
        "payment_intent": "pi_a", "metadata": { "sku": "pack_100", "purchase_id": "p2" },
    });
    let mut events = [
        completed("e1", 10, sale("a", json!({}))),
        completed("e2", 20, sale("b", second)),
    ];
    for _ in 0..2 {
        let world = World::after(&events);
        assert_eq!(world.balance(USER), 100);
        for (key, granted) in [(PURCHASE, 100), ("self:test:p2", 0)] {
            assert_eq!(world.purchases[key].granted, granted);
            assert_eq!(world.purchases[key].flags, ["payment_claimed_twice"]);
        }
        events.reverse();
    }
}

#[test]
fn three_packs_are_three_hundred_and_a_full_discount_is_paid() {
    let three = json!({
        "amount_subtotal": 5_700, "amount_total": 6_000,
        "metadata": { "sku": "pack_100", "purchase_id": "p1", "quantity": "3" },
    });
    assert_eq!(
        one_end("three", &[completed("e1", 10, sale("a", three))]).balance(USER),
        300
    );
    let free = json!({
        "payment_intent": null, "amount_total": 0, "payment_status": "no_payment_required",
    });
    let world = one_end("free", &[completed("e1", 10, sale("a", free))]);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(world.payments["self:test:a"].captures[0].amount, 0);
}

#[test]
fn without_a_purchase_id_the_payment_stands_in() {
    let nameless = pack(json!({ "sku": "pack_100" }));
    let world = one_end("nameless", &[completed("e1", 10, sale("a", nameless))]);
    assert_eq!(world.balance(USER), 100);
    assert!(world.purchases.contains_key("self:test:pi_a"));
}

#[test]
fn an_unknown_pack_grants_nothing_and_still_links() {
    let unknown = pack(json!({ "sku": "pack_7", "purchase_id": "p1" }));
    let world = one_end("unknown", &[completed("e1", 10, sale("a", unknown))]);
    assert_eq!(world.rejected["e1"], RejectKind::UnknownSku);
    assert!(world.purchases.is_empty() && world.once.is_empty());
    assert_eq!(
        world.customers["self:test:cus_1"].user_id.as_deref(),
        Some(USER)
    );
}

#[test]
fn credits_of_nobody_wait_for_the_link_and_a_guests_are_a_dead_letter() {
    let nobody = || sale("a", json!({ "client_reference_id": null }));
    let events = [
        completed("e1", 10, nobody()),
        completed("e2", 50, session("cs_9", json!({}))),
    ];
    assert_eq!(one_end("unlinked", &events).balance(USER), 100);
    let guest = sale(
        "a",
        json!({ "client_reference_id": null, "customer": null }),
    );
    let world = one_end("guest", &[completed("e1", 10, guest)]);
    assert_eq!(world.rejected["e1"], RejectKind::UnlinkedPurchase);
    assert_eq!(world.checkouts.len(), 1);
}

#[test]
fn live_credits_are_not_test_credits() {
    let events = [
        completed("e1", 10, sale("a", json!({}))),
        completed("e2", 10, sale("a", json!({}))).with("livemode", json!(true)),
    ];
    let world = one_end("twins", &events);
    assert!(
        world
            .purchases
            .values()
            .all(|purchase| purchase.granted == 100)
    );
    assert_eq!(world.purchases.len(), 2);
}
