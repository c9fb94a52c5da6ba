//! Who is alive: one row a worker process, renewed every third of a lease. A rescuer
//! counts a crash only against an owner whose row has gone stale.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::{Collection, Database};

use super::error::{StoreError, within};
use super::index::Wanted;
use super::pipeline;

/// The `workers` collection.
#[derive(Debug, Clone)]
pub struct Workers {
    collection: Collection<Document>,
    limit: Duration,
}

impl Workers {
    /// Its name.
    pub const NAME: &'static str = "workers";

    pub(super) fn new(database: &Database, limit: Duration) -> Self {
        let collection = database.collection(Self::NAME);
        Self { collection, limit }
    }

    /// Its indexes: the one on `_id` serves every query.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: Self::NAME,
            indexes: Vec::new(),
        }
    }

    /// Says that `owner` is alive now, by the database's clock.
    pub async fn renew(&self, owner: &str) -> Result<(), StoreError> {
        let update = vec![doc! { "$set": { "seenAt": "$$NOW" } }];
        let renewed = self.collection.update_one(doc! { "_id": owner }, update);
        within(self.limit, async { renewed.upsert(true).await }).await?;
        Ok(())
    }

    /// How long ago `owner` was last seen; none when it has no row.
    pub async fn unseen_for(&self, owner: &str) -> Result<Option<Duration>, StoreError> {
        let pipeline = [
            doc! { "$match": { "_id": owner } },
            doc! { "$project": { "unseen": { "$subtract": ["$$NOW", "$seenAt"] } } },
        ];
        let read = async {
            let mut rows = self.collection.aggregate(pipeline).await?;
            Ok(if rows.advance().await? {
                Some(rows.deserialize_current()?)
            } else {
                None
            })
        };
        let row: Option<Document> = within(self.limit, read).await?;
        // A row without a readable date was never renewed by us.
        Ok(row.map(|row| pipeline::duration(row.get("unseen")).unwrap_or(Duration::MAX)))
    }

    /// Says that `owner` ended in good order and holds nothing.
    pub async fn leave(&self, owner: &str) -> Result<(), StoreError> {
        let gone = self.collection.delete_one(doc! { "_id": owner });
        within(self.limit, async { gone.await }).await?;
        Ok(())
    }

    /// Removes rows of workers that have not been seen for `age`: their leases are long
    /// over and rescued.
    pub async fn forget_older_than(&self, age: Duration) -> Result<u64, StoreError> {
        let millis = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let old = doc! { "$expr": { "$lt": ["$seenAt", { "$subtract": ["$$NOW", millis] }] } };
        let gone = self.collection.delete_many(old);
        Ok(within(self.limit, async { gone.await })
            .await?
            .deleted_count)
    }
}
