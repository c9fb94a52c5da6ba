//! A pack of credits bought through Checkout in payment mode: three events announce one payment.

use serde_json::{Value, json};

use super::{Actors, CURRENCY, PACK_AMOUNT, SKU};
use crate::stripe::event::Event;
use crate::stripe::ids::Ids;
use crate::stripe::shape::Shape;

/// How long the customer looked at the payment page.
const HESITATED_S: i64 = 12;

pub(super) fn events(ids: &mut Ids, who: &Actors, at: i64) -> Vec<Event> {
    let (session, payment_intent, charge) = (ids.next("cs_test"), ids.next("pi"), ids.next("ch"));
    // The product puts it on the session and on the payment intent (`payment_intent_data.metadata`), because
    // the session's does not reach the payment.
    let metadata = json!({ "purchase_id": who.purchase, "sku": SKU, "user_id": who.user });
    vec![
        Event::new(
            ids,
            "charge.succeeded",
            at,
            charge_object(who, at, &charge, &payment_intent, &metadata),
        ),
        Event::new(
            ids,
            "payment_intent.succeeded",
            at,
            intent_object(who, at, &charge, &payment_intent, &metadata),
        ),
        Event::new(
            ids,
            "checkout.session.completed",
            at,
            session_object(who, at, &session, &payment_intent, &metadata),
        ),
    ]
}

fn charge_object(who: &Actors, at: i64, id: &str, payment_intent: &str, metadata: &Value) -> Value {
    Shape::Charge.with(json!({
        "id": id,
        "amount": PACK_AMOUNT,
        "amount_captured": PACK_AMOUNT,
        "created": at,
        "currency": CURRENCY,
        "customer": who.customer,
        "metadata": metadata,
        "payment_intent": payment_intent,
        "payment_method": who.payment_method,
        "receipt_url": format!("https://pay.stripe.com/receipts/payment/{id}"),
    }))
}

fn intent_object(who: &Actors, at: i64, charge: &str, id: &str, metadata: &Value) -> Value {
    Shape::PaymentIntent.with(json!({
        "id": id,
        "amount": PACK_AMOUNT,
        "amount_received": PACK_AMOUNT,
        "client_secret": format!("{id}_secret_{charge}"),
        "created": at,
        "currency": CURRENCY,
        "customer": who.customer,
        "latest_charge": charge,
        "metadata": metadata,
        "payment_method": who.payment_method,
        "status": "succeeded",
    }))
}

fn session_object(
    who: &Actors,
    at: i64,
    id: &str,
    payment_intent: &str,
    metadata: &Value,
) -> Value {
    let opened = at - HESITATED_S;
    Shape::CheckoutSession.with(json!({
        "id": id,
        "amount_subtotal": PACK_AMOUNT,
        "amount_total": PACK_AMOUNT,
        "client_reference_id": who.user,
        "created": opened,
        "currency": CURRENCY,
        "customer": who.customer,
        "expires_at": opened + 24 * 60 * 60,
        "metadata": metadata,
        "mode": "payment",
        "payment_intent": payment_intent,
        "payment_method_collection": "if_required",
        "submit_type": "pay",
    }))
}
