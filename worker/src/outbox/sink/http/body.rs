//! What is posted: the recommended form of Standard Webhooks (`type`, `timestamp`, `data`)
//! with our own fields beside it.

use bson::DateTime;
use hookledger_shared::model::outbox::OutboxMessage;
use serde::Serialize;

use crate::outbox::sink::json::{Json, rfc3339};

#[derive(Serialize)]
struct Body<'a> {
    id: &'a str,
    r#type: &'a str,
    #[serde(serialize_with = "by_ref")]
    timestamp: DateTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    data: Json<'a>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn by_ref<S: serde::Serializer>(time: &DateTime, serializer: S) -> Result<S::Ok, S::Error> {
    rfc3339(*time, serializer)
}

/// The body of `message`, which is sent as `id`. The same on every try.
///
/// # Errors
/// When the payload holds what has no form in JSON.
pub(super) fn render(id: &str, message: &OutboxMessage) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Body {
        id,
        r#type: &message.topic,
        timestamp: message.created_at,
        subject: message.subject.as_deref(),
        version: message.version,
        data: Json(&message.payload),
    })
}
