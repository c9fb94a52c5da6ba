//! What operators ask of the outbox and do to it, over small partial indexes only.

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use futures::TryStreamExt;
use mongodb::ClientSession;
use mongodb::error::Error;
use serde::{Deserialize, Serialize};

use super::Outbox;
use crate::model::event::LastError;
use crate::model::outbox::{CausedBy, MessageStatus};
use crate::store::dead::{self, DeadFilter};
use crate::store::error::{StoreError, within};
use crate::store::gauge::{self, Head};

/// A dead message, as lists show it: without its payload.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "camelCase", serialize = "camelCase"))]
pub struct DeadMessage {
    /// The effect's identity.
    pub key: String,
    /// What it is about.
    pub topic: String,
    /// Where it could not be delivered.
    pub destination: String,
    /// Tries.
    #[serde(default)]
    pub attempts: u32,
    /// When it was given up.
    #[serde(serialize_with = "dead::rfc3339")]
    pub dead_at: DateTime,
    /// Why.
    #[serde(serialize_with = "dead::error_json")]
    pub last_error: Option<LastError>,
    /// The event behind it.
    #[serde(skip_serializing)]
    pub caused_by: CausedBy,
    /// The row.
    #[serde(rename = "_id", skip_serializing)]
    pub id: ObjectId,
}

impl Outbox {
    /// The oldest message that is due for `destination`.
    pub async fn head(&self, destination: &str) -> Result<Option<Head>, StoreError> {
        let due = doc! {
            "destination": destination,
            "status": MessageStatus::Pending.as_str(),
            "$expr": { "$lte": ["$dueAt", "$$NOW"] },
        };
        let order = doc! { "destination": 1, "dueAt": 1 };
        gauge::head(&self.raw, due, order, self.limit).await
    }

    /// How many messages are in `status`, counted over its partial index up to `cap`; sent
    /// ones are never counted.
    pub async fn count(&self, status: MessageStatus, cap: u64) -> Result<Option<u64>, StoreError> {
        let index = match status {
            MessageStatus::Pending => Self::PENDING,
            MessageStatus::Sending => Self::LEASED,
            MessageStatus::Dead => Self::DEAD,
            MessageStatus::Sent => return Ok(None),
        };
        let filter = doc! { "status": status.as_str() };
        let counted = gauge::count(&self.raw, filter, index, cap, self.limit);
        counted.await.map(Some)
    }

    /// Dead messages, the newest first.
    pub async fn dead(
        &self,
        filter: &DeadFilter,
        page: i64,
    ) -> Result<Vec<DeadMessage>, StoreError> {
        let query = filter.query("topic", "destination");
        dead::newest(&self.raw, query, doc! { "payload": 0 }, page, self.limit).await
    }

    /// The rows with this key, one a destination, whole.
    pub async fn by_key(&self, key: &str) -> Result<Vec<Document>, StoreError> {
        let rows = self.raw.find(doc! { "key": key }).limit(100);
        within(self.limit, async { rows.await?.try_collect().await }).await
    }

    /// Puts a dead message back: due now, its counts at zero, its epoch and key kept.
    /// Answers how it stood; nothing when it was not dead any more.
    pub(in crate::store) async fn requeue(
        &self,
        session: &mut ClientSession,
        id: ObjectId,
    ) -> Result<Option<Document>, Error> {
        let dead = doc! { "_id": id, "status": MessageStatus::Dead.as_str() };
        let back = vec![
            doc! { "$set": {
                "status": MessageStatus::Pending.as_str(),
                "dueAt": "$$NOW",
                "attempts": 0,
                "crashes": 0,
            } },
            doc! { "$unset": "deadAt" },
        ];
        let requeue = self.raw.find_one_and_update(dead, back);
        let before = requeue.projection(doc! { "payload": 0, "trail": 0 });
        before.session(session).await
    }
}
