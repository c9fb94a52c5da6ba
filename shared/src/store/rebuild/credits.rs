//! Bringing credits back: entries are only added, and an account becomes the sum of its
//! entries as the transaction sees them.

use std::collections::BTreeSet;

use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::ClientSession;
use mongodb::error::Error;

use super::{By, as_read};
use crate::model::book::Book;
use crate::model::credit::CreditEntry;
use crate::store::transaction::{Slot, TransactionError, Verdict, Work};
use crate::store::{CreditAccounts, CreditEntries, Purchases, Stores};

/// Entries that a purchase lacks.
#[derive(Debug, Clone)]
pub struct Corrected {
    /// The purchase's key. Whoever writes its entries writes it or an account, too.
    pub purchase: String,
    /// Whose books.
    pub book: Book,
    /// The purchase's id in them.
    pub purchase_id: String,
    /// Its version when its entries were read.
    pub read: i64,
    /// The keys of the entries it had then.
    pub known: BTreeSet<String>,
    /// The entries to append.
    pub entries: Vec<CreditEntry>,
}

/// A balance that is not the sum of its entries.
#[derive(Debug, Clone)]
pub struct Balanced {
    /// Whose books.
    pub book: Book,
    /// The product's own id of the user.
    pub user: String,
}

impl Stores {
    /// Appends the entries, moves the accounts to the sums and says so in the audit log.
    /// False when the purchase or its entries are not as they were read any more.
    ///
    /// # Errors
    /// When the database did not do it, or when that is not known; it may be asked again.
    pub async fn correct(
        &self,
        slot: &mut Slot,
        corrected: &Corrected,
        by: By<'_>,
    ) -> Result<bool, TransactionError> {
        let mut work = Correcting {
            stores: self,
            corrected,
            by,
        };
        let ended = slot.in_transaction(self.op_timeout, &mut work).await?;
        Ok(ended.value)
    }

    /// Moves the account to the sum of its entries and says so in the audit log. False when
    /// it is there already.
    ///
    /// # Errors
    /// When the database did not do it, or when that is not known; it may be asked again.
    pub async fn balance(
        &self,
        slot: &mut Slot,
        balanced: &Balanced,
        by: By<'_>,
    ) -> Result<bool, TransactionError> {
        let mut work = Balancing {
            stores: self,
            balanced,
            by,
        };
        let ended = slot.in_transaction(self.op_timeout, &mut work).await?;
        Ok(ended.value)
    }

    /// Answers how the balance stood and stands, when it moved.
    async fn to_the_sum(
        &self,
        session: &mut ClientSession,
        book: &Book,
        user: &str,
    ) -> Result<Option<(Document, Document)>, Error> {
        let key = book.key(user);
        let of_user = doc! { "account": &book.account, "livemode": book.livemode, "userId": user };
        let entries = self.raw(CreditEntries::NAME);
        let entries = entries.clone_with_type::<CreditEntry>();
        let found = entries.find(of_user.clone());
        let mut found = found.session(&mut *session).await?;
        let entries: Vec<_> = found.stream(&mut *session).try_collect().await?;
        let sum: i64 = entries.iter().map(|entry| entry.credits).sum();
        let accounts = self.raw(CreditAccounts::NAME);
        let there = doc! { "_id": { "$eq": &key } };
        let before = accounts
            .find_one(there.clone())
            .session(&mut *session)
            .await?;
        let balance = before
            .as_ref()
            .and_then(|account| account.get_i64("balance").ok());
        if balance == Some(sum) || (before.is_none() && entries.is_empty()) {
            return Ok(None);
        }
        let mut fields = of_user;
        fields.insert("balance", sum);
        let update = doc! { "$set": fields, "$inc": { "version": 1_i64 } };
        let moved = accounts.update_one(there, update).upsert(true);
        moved.session(session).await?;
        let stands = |balance: Option<i64>| {
            doc! { "collection": CreditAccounts::NAME, "key": &key, "balance": balance }
        };
        Ok(Some((stands(balance), stands(Some(sum)))))
    }
}

struct Correcting<'a> {
    stores: &'a Stores,
    corrected: &'a Corrected,
    by: By<'a>,
}

impl Work for Correcting<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let Corrected {
            purchase,
            book,
            purchase_id,
            read,
            known,
            entries,
        } = self.corrected;
        let stores = self.stores;
        let purchases = stores.raw(Purchases::NAME);
        let grows = doc! { "$inc": { "version": 1_i64 } };
        let as_read = as_read(purchase, Some(*read));
        let touched = purchases.update_one(as_read, grows).session(&mut *session);
        if touched.await?.matched_count == 0 {
            return Ok(Verdict::Abort(false));
        }
        let stands = stores
            .credit_entries
            .of_purchase(session, book, purchase_id);
        let stands = stands.await?;
        let stands: BTreeSet<_> = stands.into_iter().map(|entry| entry.key).collect();
        if stands != *known {
            return Ok(Verdict::Abort(false));
        }
        let mut users = BTreeSet::new();
        for entry in entries {
            stores.credit_entries.append(session, entry).await?;
            users.insert(entry.user_id.as_str());
            let appended = doc! {
                "collection": CreditEntries::NAME,
                "key": &entry.key,
                "credits": entry.credits,
            };
            let missing = doc! { "collection": CreditEntries::NAME, "key": &entry.key };
            stores.record(session, self.by, missing, appended).await?;
        }
        for user in users {
            if let Some((before, after)) = stores.to_the_sum(session, book, user).await? {
                stores.record(session, self.by, before, after).await?;
            }
        }
        Ok(Verdict::Commit(true))
    }
}

struct Balancing<'a> {
    stores: &'a Stores,
    balanced: &'a Balanced,
    by: By<'a>,
}

impl Work for Balancing<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let Balanced { book, user } = self.balanced;
        match self.stores.to_the_sum(session, book, user).await? {
            Some((before, after)) => {
                self.stores.record(session, self.by, before, after).await?;
                Ok(Verdict::Commit(true))
            }
            None => Ok(Verdict::Abort(false)),
        }
    }
}
