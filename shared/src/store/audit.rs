//! What operators did: append-only, written in the transaction that does it.

use bson::{DateTime, Document, doc};
use mongodb::error::Error;
use mongodb::{ClientSession, Collection, Database};

use super::index::{Index, Wanted};

/// One act of an operator.
#[derive(Debug, Clone)]
pub struct Act {
    /// The operator, as far as the way in tells: the system's user, or `ops`.
    pub who: String,
    /// What was done: `dead-letters retry`.
    pub what: &'static str,
    /// When, by the database's clock as the acting process knows it.
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
}

impl Audit {
    /// Its name.
    pub const NAME: &'static str = "audit";

    pub(super) fn new(database: &Database) -> Self {
        let collection = database.collection(Self::NAME);
        Self { collection }
    }

    /// Its indexes.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: Self::NAME,
            indexes: vec![Index::new("when", doc! { "when": 1 })],
        }
    }

    /// Appends one act, in the transaction that does it.
    pub async fn append(&self, session: &mut ClientSession, act: &Act) -> Result<(), Error> {
        let row = doc! {
            "who": &act.who,
            "what": act.what,
            "when": act.when,
            "from": &act.from,
            "before": &act.before,
            "after": &act.after,
        };
        self.collection.insert_one(row).session(session).await?;
        Ok(())
    }
}
