//! The `creditEntries` collection: append-only, one document a change of a balance. Its key
//! is what makes a grant or a reversal happen only once.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::book::Book;
use crate::model::credit::CreditEntry;

/// The `creditEntries` collection.
#[derive(Debug, Clone)]
pub struct CreditEntries {
    documents: Documents<CreditEntry>,
}

impl CreditEntries {
    /// Its name.
    pub const NAME: &'static str = "creditEntries";

    pub(super) fn new(database: &Database) -> Self {
        Self {
            documents: Documents::new(database, Self::NAME),
        }
    }

    /// Its indexes: a purchase's entries, and a user's statement.
    #[must_use]
    pub fn wanted() -> Wanted {
        let mut statement = Index::in_book("statement", "userId");
        statement.keys.insert("at", 1);
        Wanted {
            collection: Self::NAME,
            indexes: vec![Index::in_book("purchase", "purchaseId"), statement],
        }
    }

    /// Every entry of a purchase, as the transaction sees them.
    pub async fn of_purchase(
        &self,
        session: &mut ClientSession,
        book: &Book,
        purchase: &str,
    ) -> Result<Vec<CreditEntry>, Error> {
        let filter = doc! {
            "account": &book.account,
            "livemode": book.livemode,
            "purchaseId": purchase,
        };
        self.documents.find_all(session, filter).await
    }

    /// Appends one. That its key is there already is a fault of ours: the purchase, which
    /// every writer of its entries also writes, said that it was not.
    pub async fn append(
        &self,
        session: &mut ClientSession,
        entry: &CreditEntry,
    ) -> Result<(), Error> {
        self.documents.insert(session, entry).await
    }
}
