//! Stripe's objects in their official shape, API version 2025-09-30.clover: every property that a webhook
//! carries, empty or with a usual value. `history` fills in what tells a story.
//!
//! One file an object. Checked against the official type definitions (npm `stripe` 19.1.0, which are generated
//! from Stripe's OpenAPI description).

use serde_json::Value;

/// The API version in which everything here is rendered.
pub const API_VERSION: &str = "2025-09-30.clover";

/// An object of which we know the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Charge,
    CheckoutSession,
    Customer,
    Invoice,
    InvoiceLine,
    InvoicePayment,
    PaymentIntent,
    PaymentMethod,
    Plan,
    Price,
    Subscription,
    SubscriptionItem,
}

impl Shape {
    fn text(self) -> &'static str {
        match self {
            Self::Charge => include_str!("charge.json"),
            Self::CheckoutSession => include_str!("checkout_session.json"),
            Self::Customer => include_str!("customer.json"),
            Self::Invoice => include_str!("invoice.json"),
            Self::InvoiceLine => include_str!("invoice_line.json"),
            Self::InvoicePayment => include_str!("invoice_payment.json"),
            Self::PaymentIntent => include_str!("payment_intent.json"),
            Self::PaymentMethod => include_str!("payment_method.json"),
            Self::Plan => include_str!("plan.json"),
            Self::Price => include_str!("price.json"),
            Self::Subscription => include_str!("subscription.json"),
            Self::SubscriptionItem => include_str!("subscription_item.json"),
        }
    }

    /// The object with these properties laid over it: objects within objects property by property, everything
    /// else as a whole.
    ///
    /// # Panics
    /// When the object has no such property: a slip of ours that the tests of `history` show.
    pub(super) fn with(self, fields: Value) -> Value {
        let mut object: Value = serde_json::from_str(self.text()).expect("a bundled shape is JSON");
        if let Some(name) = fields
            .as_object()
            .and_then(|fields| fields.keys().find(|name| object.get(name).is_none()))
        {
            panic!("{self:?} has no property {name}");
        }
        overlay(&mut object, fields);
        object
    }
}

fn overlay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                overlay(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// A Stripe list that is complete.
pub(super) fn list(url: &str, data: Vec<Value>) -> Value {
    serde_json::json!({ "object": "list", "data": data, "has_more": false, "url": url })
}
