//! What operators did: append-only, written before the act is answered.

use std::time::Duration;

use bson::{DateTime, Document, doc};
use mongodb::{Collection, Database};

use super::error::{StoreError, within};
use super::index::{Index, Wanted};

/// One act of an operator.
#[derive(Debug, Clone)]
pub struct Act {
    /// The operator, as far as the way in tells: the system's user, or `ops`.
    pub who: String,
    /// What was done: `dead-letters retry`.
    pub what: &'static str,
    /// When, by the acting process's corrected clock.
    pub when: DateTime,
    /// The host or address it came from.
    pub from: String,
    /// What it was done to, and how that stood before.
    pub before: Document,
    /// How it stands after.
    pub after: Document,
}

/// The `audit` collection.
#[derive(Debug, Clone)]
pub struct Audit {
    collection: Collection<Document>,
    limit: Duration,
}

impl Audit {
    /// Its name.
    pub const NAME: &'static str = "audit";

    pub(super) fn new(database: &Database, limit: Duration) -> Self {
        let collection = database.collection(Self::NAME);
        Self { collection, limit }
    }

    /// Its indexes.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: Self::NAME,
            indexes: vec![Index::new("when", doc! { "when": 1 })],
        }
    }

    /// Appends one act.
    pub async fn append(&self, act: &Act) -> Result<(), StoreError> {
        let row = doc! {
            "who": &act.who,
            "what": act.what,
            "when": act.when,
            "from": &act.from,
            "before": &act.before,
            "after": &act.after,
        };
        let insert = self.collection.insert_one(row);
        within(self.limit, async { insert.await }).await?;
        Ok(())
    }
}
