//! Credits and the money behind them: whatever announces a payment grants once, whatever
//! gives it back takes back once, in any order. The names L and M are those of the cases
//! that a ledger by event id gets wrong.

mod disputes;
mod paid;
mod refunds;

use serde_json::{Value, json};

use super::story::{CUSTOMER, Event, USER, completed, over, session};
use super::world::World;

const PURCHASE: &str = "self:test:p1";
const PAYMENT: &str = "self:test:pi_a";

/// The session that sells the pack of 100 credits for 9.99 as purchase `p1`.
pub(super) fn sale(at: i64) -> Event {
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

pub(in super::super) fn intent(id: &str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "pi_a", "object": "payment_intent", "status": "succeeded", "customer": CUSTOMER,
        "amount": 999, "amount_received": 999, "currency": "usd",
        "metadata": { "sku": "pack_999", "purchase_id": "p1", "user_id": USER },
    });
    Event::new(id, "payment_intent.succeeded", at, over(usual, fields))
}

pub(in super::super) fn charge(id: &str, kind: &'static str, at: i64, fields: Value) -> Event {
    let usual = json!({
        "id": "ch_a", "object": "charge", "status": "succeeded", "paid": true,
        "captured": true, "payment_intent": "pi_a", "customer": CUSTOMER,
        "amount": 999, "amount_captured": 999, "amount_refunded": 0, "currency": "usd",
        "metadata": { "sku": "pack_999", "purchase_id": "p1", "user_id": USER },
    });
    Event::new(id, kind, at, over(usual, fields)).with("api_version", json!("2026-09-30.endive"))
}

pub(super) fn refunded(id: &str, at: i64, total: i64) -> Event {
    charge(
        id,
        "charge.refunded",
        at,
        json!({ "amount_refunded": total }),
    )
}

pub(in super::super) fn refund(
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

pub(in super::super) fn dispute(id: &str, kind: &'static str, at: i64, status: &str) -> Event {
    let object = json!({
        "id": "dp_1", "object": "dispute", "charge": "ch_a", "payment_intent": "pi_a",
        "amount": 999, "currency": "usd", "status": status,
    });
    Event::new(id, kind, at, object)
}

/// A formal dispute's first two events.
pub(super) fn disputed() -> [Event; 2] {
    [
        dispute("d1", "charge.dispute.created", 20, "needs_response"),
        dispute("d2", "charge.dispute.funds_withdrawn", 20, "needs_response"),
    ]
}

pub(super) fn flags(world: &World) -> &[String] {
    &world.purchases[PURCHASE].flags
}

pub(super) fn once(world: &World) -> Vec<String> {
    let keys = world.once.iter();
    let mut once: Vec<_> = keys.map(|key| key.replace("self:test:", "")).collect();
    once.sort();
    once
}
