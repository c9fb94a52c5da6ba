//! The `purchases` collection: one document a purchase of credits.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::purchase::Purchase;

/// The `purchases` collection.
#[derive(Debug, Clone)]
pub struct Purchases {
    documents: Documents<Purchase>,
}

impl Purchases {
    /// Its name.
    pub const NAME: &'static str = "purchases";

    pub(super) fn new(database: &Database) -> Self {
        Self {
            documents: Documents::new(database, Self::NAME),
        }
    }

    /// Its indexes.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: Self::NAME,
            indexes: vec![Index::new(
                "user",
                doc! { "account": 1, "livemode": 1, "userId": 1 },
            )],
        }
    }

    /// The one with this key, as the transaction sees it.
    pub async fn find(
        &self,
        session: &mut ClientSession,
        key: &str,
    ) -> Result<Option<Purchase>, Error> {
        self.documents.find(session, key).await
    }

    /// Writes it.
    pub async fn save(
        &self,
        session: &mut ClientSession,
        document: &Purchase,
    ) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }
}
