//! The `creditAccounts` collection: one document a user, whose balance is the sum of the
//! user's entries and is moved together with each of them.

use bson::doc;
use mongodb::error::Error;
use mongodb::{ClientSession, Database};

use super::documents::Documents;
use super::index::{Index, Wanted};
use crate::model::book::Book;
use crate::model::credit::{CreditAccount, CreditEntry};

/// The `creditAccounts` collection.
#[derive(Debug, Clone)]
pub struct CreditAccounts {
    documents: Documents<CreditAccount>,
}

impl CreditAccounts {
    /// Its name.
    pub const NAME: &'static str = "creditAccounts";

    pub(super) fn new(database: &Database) -> Self {
        Self {
            documents: Documents::new(database, Self::NAME),
        }
    }

    /// Its indexes: whose balance is below zero is a question that operators have.
    #[must_use]
    pub fn wanted() -> Wanted {
        let below_zero = doc! { "balance": { "$lt": 0 } };
        Wanted {
            collection: Self::NAME,
            indexes: vec![Index::new("below_zero", doc! { "balance": 1 }).partial(below_zero)],
        }
    }

    /// The account with this key, as the transaction sees it.
    pub async fn find(
        &self,
        session: &mut ClientSession,
        key: &str,
    ) -> Result<Option<CreditAccount>, Error> {
        self.documents.find(session, key).await
    }

    /// Moves the balance by an entry, in the transaction that appends it.
    pub async fn book(
        &self,
        session: &mut ClientSession,
        entry: &CreditEntry,
    ) -> Result<(), Error> {
        let book = Book {
            account: entry.account.clone(),
            livemode: entry.livemode,
        };
        let key = doc! { "_id": book.key(&entry.user_id) };
        let update = doc! {
            "$inc": { "balance": entry.credits, "version": 1_i64 },
            "$setOnInsert": {
                "account": &entry.account,
                "livemode": entry.livemode,
                "userId": &entry.user_id,
            },
        };
        let moved = self.documents.collection().update_one(key, update);
        moved.upsert(true).session(session).await?;
        Ok(())
    }
}
