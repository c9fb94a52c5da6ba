//! Writing messages, only inside a domain transaction. Every database error goes back as
//! it is, so that the transaction's one retry policy sees it.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::ClientSession;
use mongodb::error::Error;

use super::Outbox;
use crate::model::outbox::{CausedBy, MessageStatus, OnceMessage, StateMessage};
use crate::store::pipeline::{literal, millis};

impl Outbox {
    /// Inserts an effect that happens once; leaves a row with the same key and destination
    /// alone.
    pub async fn enqueue_once(
        &self,
        session: &mut ClientSession,
        message: &OnceMessage,
    ) -> Result<(), Error> {
        // A pipeline, for the database's clock: an existing row keeps every field.
        let fields = [
            ("topic", literal(message.topic.as_str())),
            ("payload", literal(message.payload.clone())),
            ("status", literal(MessageStatus::Pending.as_str())),
            ("epoch", literal(0_i64)),
            ("attempts", literal(0)),
            ("crashes", literal(0)),
            ("causedBy", literal(cause(&message.caused_by))),
        ];
        let exists = doc! { "$ne": [{ "$type": "$status" }, "missing"] };
        let mut set = Document::new();
        for (name, value) in fields {
            set.insert(name, keep(&exists, name, value));
        }
        set.insert("createdAt", keep(&exists, "createdAt", "$$NOW"));
        set.insert("dueAt", keep(&exists, "dueAt", "$$NOW"));
        let identity = doc! { "key": &message.key, "destination": &message.destination };
        let upsert = self.raw.update_one(identity, vec![doc! { "$set": set }]);
        upsert.upsert(true).session(session).await?;
        Ok(())
    }

    /// Sets the newest view of a subject. A row at rest becomes pending, due after
    /// `settle`; a pending one keeps its `dueAt`, so that steady change can't starve it; one
    /// that is being sent goes on and is found changed when it is finished.
    pub async fn enqueue_state(
        &self,
        session: &mut ClientSession,
        message: &StateMessage,
        settle: Duration,
    ) -> Result<(), Error> {
        let (pending, sending) = (
            MessageStatus::Pending.as_str(),
            MessageStatus::Sending.as_str(),
        );
        let is = |status: &str| doc! { "$eq": ["$status", status] };
        let busy = doc! { "$or": [is(pending), is(sending)] };
        let set = doc! {
            "topic": literal(message.topic.as_str()),
            "subject": literal(message.subject.as_str()),
            "version": literal(message.version),
            "payload": literal(message.payload.clone()),
            "causedBy": literal(cause(&message.caused_by)),
            "status": { "$cond": [busy.clone(), "$status", pending] },
            "attempts": { "$cond": [busy.clone(), "$attempts", 0] },
            "crashes": { "$cond": [busy.clone(), "$crashes", 0] },
            "dueAt": { "$switch": { "branches": [
                { "case": is(pending), "then": "$dueAt" },
                { "case": is(sending), "then": "$$REMOVE" },
            ], "default": { "$add": ["$$NOW", millis(settle)] } } },
            "epoch": { "$ifNull": ["$epoch", 0_i64] },
            // Of what it carries, which is newer than the row.
            "createdAt": "$$NOW",
            "sentAt": "$$REMOVE",
            "deadAt": "$$REMOVE",
            "expireAt": "$$REMOVE",
        };
        let identity = doc! { "key": &message.key, "destination": &message.destination };
        let upsert = self.raw.update_one(identity, vec![doc! { "$set": set }]);
        upsert.upsert(true).session(session).await?;
        Ok(())
    }
}

/// The field as it stands when the row exists, else `value`.
fn keep(exists: &Document, field: &str, value: impl Into<bson::Bson>) -> Document {
    let stands = doc! { "$ifNull": [format!("${field}"), "$$REMOVE"] };
    doc! { "$cond": [exists.clone(), stands, value.into()] }
}

fn cause(caused_by: &CausedBy) -> Document {
    doc! {
        "provider": &caused_by.provider,
        "scope": &caused_by.scope,
        "eventId": &caused_by.event_id,
    }
}
