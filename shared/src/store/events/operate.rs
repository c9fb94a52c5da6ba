//! What operators ask of the ledger and do to it. Everything reads the head of a small
//! partial index or counts it up to a cap; nothing ever counts the ledger.

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use futures::TryStreamExt;
use mongodb::ClientSession;
use mongodb::error::Error;
use serde::{Deserialize, Serialize};

use super::Events;
use crate::model::event::{LastError, LedgerEvent, Status};
use crate::store::dead::{self, DeadFilter};
use crate::store::error::{StoreError, within};
use crate::store::gauge::{self, Head};

/// A dead event, as lists show it: without its body.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "camelCase", serialize = "camelCase"))]
pub struct DeadRow {
    /// The provider's id of the event.
    pub event_id: String,
    /// The provider.
    pub provider: String,
    /// The deduplication scope.
    pub scope: String,
    /// The source that received it.
    pub source: String,
    /// The provider's type.
    #[serde(rename = "type")]
    pub event_type: Option<String>,
    /// The object it is about.
    pub object_id: Option<String>,
    /// Handler faults.
    #[serde(default)]
    pub attempts: u32,
    /// How often its worker died with it.
    #[serde(default)]
    pub crashes: u32,
    /// When it came.
    #[serde(serialize_with = "dead::rfc3339")]
    pub received_at: DateTime,
    /// When it was given up.
    #[serde(serialize_with = "dead::rfc3339")]
    pub dead_at: DateTime,
    /// Why.
    #[serde(serialize_with = "dead::error_json")]
    pub last_error: Option<LastError>,
    /// The row.
    #[serde(rename = "_id", skip_serializing)]
    pub id: ObjectId,
}

impl Events {
    /// The oldest event that is due and that nobody has claimed.
    pub async fn head(&self) -> Result<Option<Head>, StoreError> {
        let due = doc! {
            "status": Status::Received.as_str(),
            "$expr": { "$lte": ["$dueAt", "$$NOW"] },
        };
        gauge::head(&self.raw, due, doc! { "dueAt": 1 }, self.limit).await
    }

    /// How many events are in `status`, counted over its partial index up to `cap`.
    /// Processed ones are never counted: they are the ledger.
    pub async fn count(&self, status: Status, cap: u64) -> Result<Option<u64>, StoreError> {
        let index = match status {
            Status::Received => Self::WAITING,
            Status::Processing => Self::LEASED,
            Status::Dead => Self::DEAD,
            Status::Processed => return Ok(None),
        };
        let filter = doc! { "status": status.as_str() };
        gauge::count(&self.raw, filter, index, cap, self.limit)
            .await
            .map(Some)
    }

    /// Dead events, the newest first.
    pub async fn dead(&self, filter: &DeadFilter, page: i64) -> Result<Vec<DeadRow>, StoreError> {
        let query = filter.query("type", "source");
        dead::newest(
            &self.raw,
            query,
            doc! { "body": 0, "headers": 0 },
            page,
            self.limit,
        )
        .await
    }

    /// The rows with this event id, of whatever provider and scope.
    pub async fn by_event_id(&self, event_id: &str) -> Result<Vec<LedgerEvent>, StoreError> {
        let rows = self
            .collection
            .find(doc! { "eventId": event_id })
            .limit(100);
        within(self.limit, async { rows.await?.try_collect().await }).await
    }

    /// The same rows as they are stored: whole, and also those that this version can't read.
    pub async fn documents(&self, event_id: &str) -> Result<Vec<Document>, StoreError> {
        let rows = self.raw.find(doc! { "eventId": event_id }).limit(100);
        within(self.limit, async { rows.await?.try_collect().await }).await
    }

    /// Puts a dead event back: due now, its counts at zero, its epoch kept. Answers how it
    /// stood; nothing when it was not dead any more.
    pub(in crate::store) async fn requeue(
        &self,
        session: &mut ClientSession,
        id: ObjectId,
    ) -> Result<Option<Document>, Error> {
        let dead = doc! { "_id": id, "status": Status::Dead.as_str() };
        let back = vec![
            doc! { "$set": {
                "status": Status::Received.as_str(),
                "dueAt": "$$NOW",
                "attempts": 0,
                "crashes": 0,
                "deferrals": 0,
            } },
            doc! { "$unset": ["deadAt", "waitsFor"] },
        ];
        let requeue = self.raw.find_one_and_update(dead, back);
        let before = requeue.projection(doc! { "body": 0, "headers": 0 });
        before.session(session).await
    }

    /// Watches inserts, only as a hint to claim: bodies stay where they are.
    pub async fn watch_inserts(
        &self,
    ) -> Result<
        mongodb::change_stream::ChangeStream<
            mongodb::change_stream::event::ChangeStreamEvent<Document>,
        >,
        StoreError,
    > {
        let inserts = [
            doc! { "$match": { "operationType": "insert" } },
            doc! { "$project": { "operationType": 1, "ns": 1, "_id": 1 } },
        ];
        let stream = self.raw.watch().pipeline(inserts);
        within(self.limit, async { stream.await }).await
    }
}
