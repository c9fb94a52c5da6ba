//! Gauges: the head of a small partial index, and counts over it up to a cap. Nothing ever
//! counts the ledger.

use std::time::Duration;

use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Collection;

use super::error::{StoreError, within};
use super::pipeline;

/// The oldest row that is due and waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How long it has been due, by the database's clock.
    pub waiting: Duration,
}

/// The head of a partial index, and how long it has waited.
pub(super) async fn head(
    collection: &Collection<Document>,
    due: Document,
    order: Document,
    limit: Duration,
) -> Result<Option<Head>, StoreError> {
    let pipeline = [
        doc! { "$match": due },
        doc! { "$sort": order },
        doc! { "$limit": 1 },
        doc! { "$project": { "waiting": { "$subtract": ["$$NOW", "$dueAt"] } } },
    ];
    let read = async {
        let rows = collection.aggregate(pipeline).await?;
        rows.try_collect::<Vec<_>>().await
    };
    let rows = within(limit, read).await?;
    Ok(rows.first().map(|row| Head {
        waiting: pipeline::duration(row.get("waiting")).unwrap_or_default(),
    }))
}

/// Counts over a small index, at most up to `cap`.
pub(super) async fn count(
    collection: &Collection<Document>,
    filter: Document,
    index: &str,
    cap: u64,
    limit: Duration,
) -> Result<u64, StoreError> {
    let hint = mongodb::options::Hint::Name(index.to_owned());
    let counted = collection.count_documents(filter).hint(hint).limit(cap);
    within(limit, async { counted.await }).await
}
