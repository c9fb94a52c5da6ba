//! The `invoices` collection: one document an invoice at the provider.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::invoice::Invoice;

/// The `invoices` collection.
#[derive(Debug, Clone)]
pub struct Invoices {
    documents: Documents<Invoice>,
}

impl Invoices {
    /// Its name.
    pub const NAME: &'static str = "invoices";

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
                "customer",
                doc! { "account": 1, "livemode": 1, "customerId": 1 },
            )],
        }
    }

    /// The one with this key, as the transaction sees it.
    pub async fn find(
        &self,
        session: &mut ClientSession,
        key: &str,
    ) -> Result<Option<Invoice>, Error> {
        self.documents.find(session, key).await
    }

    /// Writes it.
    pub async fn save(&self, session: &mut ClientSession, document: &Invoice) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }
}
