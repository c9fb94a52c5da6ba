//! The envelope in which Stripe sends an object.

use serde_json::{Value, json};

use super::ids::Ids;
use super::shape::API_VERSION;

/// One event, ready to be signed and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Stripe's id of it.
    pub id: String,
    /// Its type, such as `invoice.paid`.
    pub kind: String,
    /// When it happened, in unix seconds.
    pub created: i64,
    /// The JSON text that is signed and sent.
    pub body: String,
}

impl Event {
    /// Announces an object as it is after what happened.
    pub(super) fn new(ids: &mut Ids, kind: &str, created: i64, object: Value) -> Self {
        Self::in_envelope(ids, kind, created, json!({ "object": object }))
    }

    /// Announces a change, with the old values of what changed.
    pub(super) fn updated(
        ids: &mut Ids,
        kind: &str,
        created: i64,
        object: Value,
        previous: Value,
    ) -> Self {
        Self::in_envelope(
            ids,
            kind,
            created,
            json!({ "object": object, "previous_attributes": previous }),
        )
    }

    fn in_envelope(ids: &mut Ids, kind: &str, created: i64, data: Value) -> Self {
        let id = ids.next("evt");
        let body = json!({
            "id": id,
            "object": "event",
            "api_version": API_VERSION,
            "created": created,
            "data": data,
            "livemode": false,
            "pending_webhooks": 1,
            "request": { "id": ids.next("req"), "idempotency_key": null },
            "type": kind,
        });
        Self {
            id,
            kind: kind.to_owned(),
            created,
            body: body.to_string(),
        }
    }
}
