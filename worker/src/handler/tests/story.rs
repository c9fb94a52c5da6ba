//! Events as Stripe would send them, cut down to what a rule may look at.

use bson::DateTime;
use serde_json::{Value, json};

use super::super::{Input, Rejection, Rules};
use crate::stripe::Envelope;

/// The user of most stories.
pub(crate) const USER: &str = "user_1";
/// The customer of most stories.
pub(crate) const CUSTOMER: &str = "cus_1";

/// One event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) body: Value,
}

impl Event {
    pub(crate) fn new(id: &str, kind: &'static str, created: i64, object: Value) -> Self {
        let body = json!({
            "id": id, "object": "event", "type": kind, "created": created, "livemode": false,
            "data": { "object": object },
        });
        Self {
            id: id.to_owned(),
            kind,
            body,
        }
    }

    /// With the old values of what changed.
    pub(crate) fn from(mut self, previous: Value) -> Self {
        self.body["data"]["previous_attributes"] = previous;
        self
    }

    /// With another field in its envelope.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.body[name] = value;
        self
    }

    /// As its rule reads it.
    pub(crate) fn read(&self, rules: &Rules) -> Input {
        read(&self.id, self.body.to_string().as_bytes(), rules).unwrap()
    }
}

/// A body as its rule reads it, or refuses it.
pub(crate) fn read(id: &str, body: &[u8], rules: &Rules) -> Result<Input, Rejection> {
    Envelope::parse(id, body)
        .and_then(|envelope| {
            // As if it had come in the second in which it happened.
            let received = DateTime::from_millis(envelope.created.saturating_mul(1_000));
            Input::of(&envelope, received, rules)
        })
        .map_err(Input::unreadable)
}

/// A subscription of [`CUSTOMER`], with these fields over the usual ones.
pub(crate) fn subscription(id: &str, fields: Value) -> Value {
    let usual = json!({
        "id": id, "object": "subscription", "customer": CUSTOMER, "status": "active",
        "cancel_at_period_end": false, "cancel_at": null, "metadata": { "plan": "pro" },
        "items": items(1_000),
    });
    over(usual, fields)
}

/// The items of a subscription whose period ends then.
pub(crate) fn items(period_end: i64) -> Value {
    json!({ "object": "list", "data": [{
        "id": "si_1", "object": "subscription_item", "quantity": 1,
        "price": { "id": "price_1", "lookup_key": "pro_monthly" },
        "current_period_start": 0, "current_period_end": period_end,
    }]})
}

/// A finished checkout session of [`USER`], with these fields over the usual ones.
pub(crate) fn session(id: &str, fields: Value) -> Value {
    let usual = json!({
        "id": id, "object": "checkout.session", "mode": "subscription", "status": "complete",
        "payment_status": "paid", "customer": CUSTOMER, "client_reference_id": USER,
        "amount_subtotal": 1_900, "amount_total": 1_900, "currency": "usd",
        "customer_details": { "email": "jenny.rosen@example.com" }, "metadata": {},
    });
    over(usual, fields)
}

pub(crate) fn created(id: &str, at: i64, subscription: Value) -> Event {
    Event::new(id, "customer.subscription.created", at, subscription)
}

pub(crate) fn updated(id: &str, at: i64, subscription: Value, previous: Value) -> Event {
    Event::new(id, "customer.subscription.updated", at, subscription).from(previous)
}

pub(crate) fn deleted(id: &str, at: i64, subscription: Value) -> Event {
    let over = over(
        subscription,
        json!({ "status": "canceled", "canceled_at": at, "ended_at": at }),
    );
    Event::new(id, "customer.subscription.deleted", at, over)
}

pub(crate) fn completed(id: &str, at: i64, session: Value) -> Event {
    Event::new(id, "checkout.session.completed", at, session)
}

/// An object with these fields over the usual ones.
pub(crate) fn over(mut usual: Value, fields: Value) -> Value {
    if let (Some(usual), Value::Object(fields)) = (usual.as_object_mut(), fields) {
        usual.extend(fields);
    }
    usual
}
