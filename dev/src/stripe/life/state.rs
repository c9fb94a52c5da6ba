//! A subscription as it is at one moment, and how Stripe tells it.

use serde_json::{Value, json};

/// What of a subscription changes. Times are unix seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) status: &'static str,
    pub(super) plan: &'static str,
    pub(super) quantity: i64,
    pub(super) period: (i64, i64),
    pub(super) cancel_at_period_end: bool,
    pub(super) cancel_at: Option<i64>,
    pub(super) canceled_at: Option<i64>,
    pub(super) ended_at: Option<i64>,
    pub(super) trial_end: Option<i64>,
    pub(super) collection_paused: bool,
    /// Something that nobody here looks at.
    pub(super) card: u32,
}

/// What of a subscription stays.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) item: String,
    pub(super) customer: String,
    /// The product's user, where the product writes it on its subscriptions.
    pub(super) user: Option<String>,
    pub(super) created: i64,
    /// Rendered as before 2025-03-31.basil, when the period was the subscription's own.
    pub(super) old_rendering: bool,
}

impl State {
    /// The object as an event carries it.
    pub(super) fn render(&self, of: &Identity) -> Value {
        let mut item = json!({
            "id": of.item, "object": "subscription_item", "quantity": self.quantity,
            "price": { "id": format!("price_{}", self.plan), "lookup_key": self.plan },
        });
        let mut object = json!({
            "id": of.id, "object": "subscription", "customer": of.customer,
            "created": of.created, "status": self.status,
            "cancel_at_period_end": self.cancel_at_period_end, "cancel_at": self.cancel_at,
            "canceled_at": self.canceled_at, "ended_at": self.ended_at,
            "trial_end": self.trial_end, "metadata": { "plan": self.plan },
            "default_payment_method": format!("pm_{}", self.card), "pause_collection": null,
        });
        if self.collection_paused {
            object["pause_collection"] = json!({ "behavior": "void", "resumes_at": null });
        }
        if let Some(user) = &of.user {
            object["metadata"]["user_id"] = json!(user);
        }
        let dated = if of.old_rendering {
            &mut object
        } else {
            &mut item
        };
        dated["current_period_start"] = json!(self.period.0);
        dated["current_period_end"] = json!(self.period.1);
        object["items"] = json!({ "object": "list", "data": [item], "has_more": false });
        object
    }
}
