//! Money where one event touches what another has written: payments that change their
//! purchase, captures in parts, dead letters tried again, and lives of all of that at random.

use std::collections::BTreeMap;

use hookledger_shared::config::Pack;
use serde_json::{Value, json};

use super::super::Rules;
use super::billing::invoice;
use super::money::{charge, dispute, intent, refund};
use super::orders::one_end;
use super::story::{CUSTOMER, Event, USER, completed, created, over, session, subscription};
use super::world::World;

const PURCHASE: &str = "self:test:p1";

fn sale(id: &str, at: i64, purchase: &str, fields: Value) -> Event {
    let usual = session(
        &format!("cs_{id}"),
        json!({
            "mode": "payment", "payment_intent": "pi_a",
            "amount_subtotal": 999, "amount_total": 999,
            "metadata": { "sku": "pack_999", "purchase_id": purchase },
        }),
    );
    completed(id, at, over(usual, fields))
}

#[test]
fn a_refund_of_a_payment_that_two_purchases_claim_is_taken_back_once() {
    for back in [
        refund("r1", "refund.created", 30, "re_1", 333, "succeeded"),
        dispute("r1", "charge.dispute.funds_withdrawn", 30, "lost"),
        charge(
            "r1",
            "charge.refunded",
            30,
            json!({ "amount_refunded": 333, "metadata": {} }),
        ),
    ] {
        let events = [
            sale("s2", 20, "p2", json!({})),
            back,
            sale("s1", 10, "p1", json!({})),
        ];
        let mut orders = Vec::new();
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let world = World::after(order.map(|n| &events[n]));
            orders.push(world.balance(USER));
            assert_eq!(world.purchases[PURCHASE].granted, 100);
        }
        assert!(
            orders.iter().all(|balance| *balance == orders[0]),
            "{orders:?}"
        );
    }
}

#[test]
fn a_dead_letter_that_is_tried_again_corrects_what_its_first_try_took() {
    let mut world = World::at(20);
    world.take(&[intent("e1", 10, json!({}))]);
    assert_eq!(world.balance(USER), 100);
    let dearer = sale("s1", 10, "p1", json!({ "amount_subtotal": 1_500 }));
    world.take(std::slice::from_ref(&dearer));
    assert_eq!(world.balance(USER), 0);
    let mut rules: Rules = World::rules();
    let pack = Pack {
        credits: 100,
        amount: 1_500,
        currency: "usd".to_owned(),
    };
    rules.catalogue = [("pack_999".to_owned(), pack)].into_iter().collect();
    world.deliver(&dearer.read(&rules), &rules);
    assert_eq!(world.purchases[PURCHASE].granted, 100);
    assert_eq!(world.balance(USER), 100);
}

#[test]
fn what_was_only_authorised_pays_nothing() {
    let held = || {
        charge(
            "e1",
            "charge.succeeded",
            10,
            json!({ "captured": false, "amount_captured": 0 }),
        )
    };
    let mut world = World::at(10 + 4_000);
    world.take(&[held()]);
    assert!(
        world.purchases.is_empty() && world.rejected.is_empty(),
        "{:?}",
        world.rejected
    );
    let taken = charge("e2", "charge.captured", 5_000, json!({}));
    let mut world = World::at(10_000);
    world.take(&[held(), taken]);
    assert_eq!(world.balance(USER), 100);
    assert!(
        world.purchases[PURCHASE].flags.is_empty(),
        "{:?}",
        world.purchases[PURCHASE].flags
    );
}

#[test]
fn what_a_partial_capture_lets_go_is_no_refund() {
    let part = json!({ "amount_captured": 500, "amount_refunded": 499 });
    let events = [
        sale("s1", 10, "p1", json!({})),
        charge("e2", "charge.captured", 12, part),
    ];
    let world = one_end("partial", &events);
    assert_eq!(world.balance(USER), 100);
    let half = json!({ "amount_captured": 500, "amount_refunded": 749 });
    let events = [&events[..], &[charge("e3", "charge.refunded", 20, half)]].concat();
    assert_eq!(one_end("half", &events).balance(USER), 50);
}

#[test]
fn an_unpaid_session_whose_intent_succeeded_was_paid() {
    let events = [
        sale("s1", 10, "p1", json!({ "payment_status": "unpaid" })),
        intent("e2", 90, json!({})),
    ];
    let world = one_end("unpaid", &events);
    assert_eq!(world.balance(USER), 100);
}

#[test]
fn a_link_conflict_is_told_whenever_it_comes_to_light() {
    let customer = json!({ "id": CUSTOMER, "metadata": { "user_id": "user_9" } });
    let events = [
        Event::new("e1", "customer.updated", 90, customer),
        created("e2", 20, subscription("sub_1", json!({}))),
        completed("e3", 10, session("cs_1", json!({}))),
    ];
    one_end("conflict", &events);
}

#[test]
fn an_invoice_that_was_paid_has_a_receipt_even_if_its_end_came_first() {
    let paid = json!({ "status": "paid", "amount_paid": 1_900, "amount_remaining": 0 });
    let events = [
        invoice("e1", "invoice.paid", 60, paid),
        invoice("e2", "invoice.voided", 70, json!({ "status": "void" })),
        completed("e3", 10, session("cs_1", json!({}))),
    ];
    one_end("void", &events);
}

#[test]
fn credits_without_measure_overflow_nothing() {
    let mut rules = World::rules();
    let pack = Pack {
        credits: i64::MAX,
        amount: 1,
        currency: "usd".to_owned(),
    };
    rules.catalogue = [("pack_999".to_owned(), pack)].into_iter().collect();
    let mut world = World::default();
    for event in [
        intent("a", 30, json!({ "amount_received": 1 })),
        sale("b", 20, "p1", json!({ "amount_subtotal": 7 })),
        sale(
            "c",
            20,
            "p1",
            json!({ "amount_subtotal": 1, "payment_intent": "pi_a" }),
        ),
        refund("r1", "refund.created", 30, "re_1", 999, "succeeded"),
        refund("r2", "refund.failed", 31, "re_1", 999, "failed"),
        sale(
            "d",
            5,
            "p0",
            json!({ "amount_subtotal": 1, "client_reference_id": "user_2" }),
        ),
    ] {
        world.deliver(&event.read(&rules), &rules);
    }
}

#[test]
fn a_delayed_payment_grants_once_whatever_tells_that_it_was_made() {
    let unpaid = json!({ "payment_status": "unpaid", "amount_total": 1_100 });
    let mut succeeded = sale("s3", 91, "p1", json!({ "amount_total": 1_100 }));
    succeeded.kind = "checkout.session.async_payment_succeeded";
    succeeded.body["type"] = json!(succeeded.kind);
    succeeded.body["data"]["object"]["id"] = json!("cs_s1");
    let total = json!({ "amount": 1_100, "amount_received": 1_100 });
    let events = [
        sale("s1", 10, "p1", unpaid),
        intent("e2", 90, total),
        succeeded,
    ];
    for some in [&events[..2], &events] {
        let world = one_end("delayed", some);
        assert_eq!(world.balance(USER), 100);
        assert!(world.purchases[PURCHASE].flags.is_empty());
    }
    let cheap = json!({ "payment_status": "unpaid", "amount_subtotal": 100 });
    let events = [
        sale("s1", 10, "p1", cheap),
        intent("e2", 90, json!({ "amount": 100, "amount_received": 100 })),
    ];
    let world = one_end("cheap", &events);
    assert_eq!(world.balance(USER), 0);
    assert_eq!(world.purchases[PURCHASE].flags, ["amount_mismatch"]);
}

/// One event of a life in which two payments, two purchases and two users meet.
fn any_event(random: &mut fastrand::Rng, n: usize) -> Event {
    let id = format!("e{n}");
    let at = [10, 20, 30][random.usize(0..3)];
    let pay = ["pi_a", "pi_b"][random.usize(0..2)];
    let purchase = ["p1", "p1", "p2"][random.usize(0..3)];
    let amount = [999, 999, 500][random.usize(0..3)];
    let user = [USER, USER, "user_2"][random.usize(0..3)];
    let (re, of) = [("re_1", "pi_a"), ("re_2", "pi_b")][random.usize(0..2)];
    let part = [333, 999][random.usize(0..2)];
    let status = ["pending", "succeeded", "failed"][random.usize(0..3)];
    let metadata = json!({ "sku": "pack_999", "purchase_id": purchase, "user_id": user });
    let charged = |kind, fields| {
        let charge_id = format!("ch_{pay}");
        let usual = json!({ "id": charge_id, "payment_intent": pay, "metadata": metadata });
        charge(&id, kind, at, over(usual, fields))
    };
    match random.usize(0..9) {
        0..=2 => {
            let paid = ["paid", "unpaid", "paid"][random.usize(0..3)];
            let fields = json!({
                "payment_intent": pay, "payment_status": paid, "client_reference_id": user,
                "amount_subtotal": amount,
            });
            sale(&id, at, purchase, fields)
        }
        3 => {
            let fields = json!({ "id": pay, "amount_received": amount, "metadata": metadata });
            intent(&id, at, fields)
        }
        4 => charged("charge.succeeded", json!({ "amount_captured": amount })),
        5 => charged("charge.refunded", json!({ "amount_refunded": part })),
        6 => dispute(&id, "charge.dispute.funds_withdrawn", at, "lost"),
        7 => dispute(&id, "charge.dispute.funds_reinstated", at, "won"),
        _ => {
            let mut back = refund(&id, "refund.updated", at, re, part, status);
            back.body["data"]["object"]["payment_intent"] = json!(of);
            back
        }
    }
}

/// What order must not change where purchases share payments: everything but the messages.
fn books(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut purchases = BTreeMap::clone(&world.purchases);
    for purchase in purchases.values_mut() {
        let entries = world.entries.values();
        let own = entries.filter(|entry| entry.purchase_id == purchase.purchase_id);
        let sum: i64 = own.map(|entry| entry.credits).sum();
        assert_eq!(sum, purchase.granted - purchase.reversed);
        purchase.version = 0;
        purchase.emitted.clear();
    }
    let mut payments = BTreeMap::clone(&world.payments);
    for payment in payments.values_mut() {
        payment.version = 0;
    }
    let balances = [USER, "user_2"].map(|user| world.balance(user));
    (balances, purchases, payments, world.waiting().count())
}

#[test]
fn purchases_that_share_payments_end_the_same_in_any_order() {
    // Young, payments wait for the checkout that explains them; old, they don't.
    for (now, seed) in [1_000, 100_000]
        .into_iter()
        .flat_map(|now| (0..1_000).map(move |n| (now, n)))
    {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = random.usize(2..6);
        let events: Vec<Event> = (0..count).map(|n| any_event(&mut random, n)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        let mut first = None;
        for _ in 0..8 {
            random.shuffle(&mut order);
            let mut world = World::at(now);
            world.take(order.iter().map(|n| &events[*n]));
            let end = books(&world);
            match &first {
                None => first = Some(end),
                Some(first) => assert_eq!(*first, end, "seed {seed}, {order:?}: {events:#?}"),
            }
        }
    }
}
