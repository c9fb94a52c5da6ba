//! Reading the ledger again, from its first row to its last, by whoever computes what
//! follows from it. Sequential reads by `_id`, page by page, of rows as a majority knows
//! them; raw, since one row that can't be read must not hide the others.

use std::collections::BTreeSet;
use std::time::Duration;

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::options::{Hint, ReadConcern};

use super::Events;
use crate::model::event::{Outcome, Status};
use crate::store::error::{StoreError, within};

/// How long one page may take: between two rows of a provider there may be many of others.
const PAGE_LIMIT: Duration = Duration::from_secs(120);

impl Events {
    /// The first row that can expire; dead ones stay for ever.
    pub async fn first(&self) -> Result<Option<ObjectId>, StoreError> {
        let processed = doc! { "status": Status::Processed.as_str() };
        let page = self.page(processed, doc! { "_id": 1 }, 1).await?;
        Ok(page.first().and_then(id))
    }

    /// A page of a provider's rows after this one, in the order of `_id`, without those that
    /// ended with no effect.
    pub async fn rows_after(
        &self,
        provider: &str,
        after: ObjectId,
        page: i64,
    ) -> Result<Vec<RawDocumentBuf>, StoreError> {
        let effectless = [Outcome::Ignored.as_str(), Outcome::Forwarded.as_str()];
        let filter = doc! {
            "_id": { "$gt": after },
            "provider": provider,
            "outcome": { "$nin": &effectless[..] },
        };
        self.page(filter, whole(), page).await
    }

    /// The ids of a page of rows after this one.
    pub async fn ids_after(&self, after: ObjectId, page: i64) -> Result<Vec<ObjectId>, StoreError> {
        let filter = doc! { "_id": { "$gt": after } };
        let rows = self.page(filter, doc! { "_id": 1 }, page).await?;
        Ok(rows.iter().filter_map(id).collect())
    }

    /// These of a provider's rows.
    pub async fn rows_of(
        &self,
        provider: &str,
        ids: &[ObjectId],
    ) -> Result<Vec<RawDocumentBuf>, StoreError> {
        let filter = doc! { "_id": { "$in": ids }, "provider": provider };
        self.page(filter, whole(), 0).await
    }

    /// Which of these events the ledger holds, by the index that deduplicates.
    pub async fn held(
        &self,
        provider: &str,
        event_ids: &[String],
    ) -> Result<BTreeSet<String>, StoreError> {
        let filter = doc! { "eventId": { "$in": event_ids }, "provider": provider };
        let found = self
            .raw
            .find(filter)
            .projection(doc! { "_id": 0, "eventId": 1 })
            .read_concern(ReadConcern::majority());
        let held = async { found.await?.try_collect::<Vec<Document>>().await };
        let held = within(PAGE_LIMIT, held).await?;
        let ids = held.iter().filter_map(|row| row.get_str("eventId").ok());
        Ok(ids.map(str::to_owned).collect())
    }

    async fn page(
        &self,
        filter: Document,
        projection: Document,
        limit: i64,
    ) -> Result<Vec<RawDocumentBuf>, StoreError> {
        let rows = self.raw.clone_with_type::<RawDocumentBuf>();
        let found = rows
            .find(filter)
            .sort(doc! { "_id": 1 })
            .hint(Hint::Keys(doc! { "_id": 1 }))
            .projection(projection)
            .limit(limit)
            .read_concern(ReadConcern::majority());
        within(PAGE_LIMIT, async { found.await?.try_collect().await }).await
    }
}

fn id(row: &RawDocumentBuf) -> Option<ObjectId> {
    row.get_object_id("_id").ok()
}

/// What a rule needs of a row, and how it ended.
fn whole() -> Document {
    doc! { "headers": 0, "trail": 0, "secretId": 0, "contentType": 0 }
}
