//! The `subscriptions` collection: one document a subscription at the provider.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::book::Book;
use crate::model::subscription::Subscription;

/// The `subscriptions` collection.
#[derive(Debug, Clone)]
pub struct Subscriptions {
    documents: Documents<Subscription>,
}

impl Subscriptions {
    /// Its name.
    pub const NAME: &'static str = "subscriptions";

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
    ) -> Result<Option<Subscription>, Error> {
        self.documents.find(session, key).await
    }

    /// Every subscription of a customer, as the transaction sees them.
    pub async fn of_customer(
        &self,
        session: &mut ClientSession,
        book: &Book,
        customer: &str,
    ) -> Result<Vec<Subscription>, Error> {
        let filter = doc! {
            "account": &book.account,
            "livemode": book.livemode,
            "customerId": customer,
        };
        self.documents.find_all(session, filter).await
    }

    /// Writes it.
    pub async fn save(
        &self,
        session: &mut ClientSession,
        document: &Subscription,
    ) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }
}
