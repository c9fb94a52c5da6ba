//! The `customers` collection: one document a customer at the provider.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::customer::Customer;

/// The `customers` collection.
#[derive(Debug, Clone)]
pub struct Customers {
    documents: Documents<Customer>,
}

impl Customers {
    /// Its name.
    pub const NAME: &'static str = "customers";

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
    ) -> Result<Option<Customer>, Error> {
        self.documents.find(session, key).await
    }

    /// Writes it.
    pub async fn save(
        &self,
        session: &mut ClientSession,
        document: &Customer,
    ) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }
}
