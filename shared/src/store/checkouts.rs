//! The `checkouts` collection: one document a checkout session.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::checkout::Checkout;

/// The `checkouts` collection.
#[derive(Debug, Clone)]
pub struct Checkouts {
    documents: Documents<Checkout>,
}

impl Checkouts {
    /// Its name.
    pub const NAME: &'static str = "checkouts";

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
    ) -> Result<Option<Checkout>, Error> {
        self.documents.find(session, key).await
    }

    /// Writes it.
    pub async fn save(
        &self,
        session: &mut ClientSession,
        document: &Checkout,
    ) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }
}
