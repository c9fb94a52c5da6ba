//! What announces a payment: sessions, intents and charges.

use serde_json::{Value, json};

use super::super::super::RejectKind;
use super::super::orders::one_end;
use super::super::story::USER;
use super::super::world::World;
use super::{PAYMENT, charge, flags, intent, once, sale};

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
