//! A backlog: news of subscriptions in the official shape, each of which changes what its
//! customer may use, so that each writes all that an event can.

use serde_json::{Value, json};

use crate::stripe::event::Event;
use crate::stripe::template;

/// In which second it begins.
const BEGIN: i64 = 1_790_000_000;

/// So many events of so many customers with so many subscriptions each, in turn. Those of
/// one subscription are a second apart.
pub(super) fn of(customers: usize, subscriptions: usize, count: usize) -> Vec<Event> {
    let kind = "customer.subscription.updated";
    let Some(shape) = template::event(kind, 1, BEGIN) else {
        return Vec::new();
    };
    let shape: Value = serde_json::from_str(&shape.body).unwrap_or_default();
    let one = |number: usize| {
        let (customer, turn) = (number % customers, number / customers);
        let (subscription, turn) = (turn % subscriptions, turn / subscriptions);
        let status = ["active", "past_due"][turn % 2];
        let created = BEGIN + turn as i64;
        let id = format!("evt_bench_{number}");
        let mut body = shape.clone();
        body["id"] = json!(id);
        body["created"] = json!(created);
        let object = &mut body["data"]["object"];
        object["id"] = json!(format!("sub_{customer}_{subscription}"));
        object["customer"] = json!(format!("cus_{customer}"));
        object["status"] = json!(status);
        object["metadata"] = json!({ "user_id": format!("user_{customer}"), "plan": "pro" });
        Event {
            id,
            kind: kind.to_owned(),
            created,
            body: body.to_string(),
        }
    };
    (0..count).map(one).collect()
}
