//! Stripe events for one test's own customer, in the official shape, with chosen ids and
//! seconds.

use hookledger_dev::stripe::event::Event;
use hookledger_dev::stripe::history::History;
use hookledger_dev::stripe::template;
use serde_json::{Value, json};

/// An event of a known type, rewritten for a test: its id, its second, and fields of its
/// object.
///
/// # Panics
/// When the type is unknown, or the template is not the object it should be.
#[must_use]
pub fn event(kind: &str, id: &str, created: i64, fields: Value) -> Event {
    let mut event = template::event(kind, 1, created).expect("a known type");
    let mut body: Value = serde_json::from_str(&event.body).expect("a template is JSON");
    body["id"] = json!(id);
    body["created"] = json!(created);
    merge(&mut body["data"]["object"], fields);
    id.clone_into(&mut event.id);
    event.created = created;
    event.body = body.to_string();
    event
}

/// A subscription as it stands in an `updated` event.
#[must_use]
pub fn subscription(id: &str, customer: &str, status: &str, created: i64) -> Event {
    let kind = "customer.subscription.updated";
    let fields = json!({
        "id": format!("sub_{customer}"),
        "customer": format!("cus_{customer}"),
        "status": status,
        "metadata": { "user_id": format!("user_{customer}"), "plan": "pro" },
    });
    event(kind, id, created, fields)
}

/// The second in which stories happen: fixed, so that two runs end alike.
pub const AT: i64 = 1_790_000_000;

/// A credit pack bought and paid: the event with the most writes.
///
/// # Panics
/// When the history has none.
#[must_use]
pub fn credit_pack() -> Event {
    let paid = |event: &Event| {
        event.kind == "checkout.session.completed" && event.body.contains(r#""mode":"payment""#)
    };
    let events = History::new(7, AT).events;
    events.into_iter().find(paid).expect("a credit pack")
}

/// An event of any type about an object that nobody handles.
#[must_use]
pub fn of_type(kind: &str, id: &str, created: i64) -> Event {
    let body = json!({
        "id": id,
        "object": "event",
        "api_version": "2025-09-30.clover",
        "created": created,
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": null },
        "type": kind,
        "data": { "object": { "id": "obj_1", "object": "thing" } },
    });
    Event {
        id: id.to_owned(),
        kind: kind.to_owned(),
        created,
        body: body.to_string(),
    }
}

fn merge(into: &mut Value, fields: Value) {
    match (into, fields) {
        (Value::Object(into), Value::Object(fields)) => {
            for (name, value) in fields {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value,
    }
}
