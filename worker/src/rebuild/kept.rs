//! The collections that a rebuild knows: one line each. What is not in the ledger at all
//! (operational fields) is named here, so that it is neither compared nor written.

use std::fmt;
use std::ops::Bound;

use bson::Document;
use hookledger_shared::store::{
    Checkouts, CreditAccounts, CreditEntries, Customers, Invoices, Payments, Purchases,
    Subscriptions,
};
use serde::Serialize;

use super::compare::purchase_owes;
use crate::fold::{Fold, Table};

/// A table of the fold, as raw documents.
pub(super) trait Folded {
    /// The document with this key, as it is stored.
    fn document(&self, key: &str) -> Result<Option<Document>, bson::error::Error>;

    /// Whether there is none with this key.
    fn is_absent(&self, key: &str) -> bool;

    /// How many there are.
    fn count(&self) -> usize;

    /// The keys after `after` and up to `last`, in the order in which the database has them.
    fn between(&self, after: Option<&str>, last: Option<&str>) -> Vec<&str>;
}

impl<T: Serialize> Folded for Table<T> {
    fn document(&self, key: &str) -> Result<Option<Document>, bson::error::Error> {
        self.get(key).map(bson::serialize_to_document).transpose()
    }

    fn is_absent(&self, key: &str) -> bool {
        !self.contains_key(key)
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn between(&self, after: Option<&str>, last: Option<&str>) -> Vec<&str> {
        if let (Some(after), Some(last)) = (after, last)
            && after >= last
        {
            return Vec::new();
        }
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let last = last.map_or(Bound::Unbounded, Bound::Included);
        let range = self.range::<str, _>((after, last));
        range.map(|(key, _)| key.as_str()).collect()
    }
}

/// One collection of documents with a key and a version.
pub(super) struct Kept {
    /// Its name.
    pub(super) name: &'static str,
    /// Fields that no event says.
    pub(super) operational: &'static [&'static str],
    /// Where the fold has it.
    pub(super) fold: fn(&Fold) -> &dyn Folded,
    /// A stored document as this version knows it: fields that it lacks at their defaults,
    /// those of a newer version left out.
    pub(super) known: fn(&Document) -> Result<Document, bson::error::Error>,
    /// Which of the effects in a rebuilt document must have been caused, in whatever order
    /// its events came; all of them when nothing is said.
    pub(super) owes: Option<fn(&Document) -> Vec<String>>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! kept {
    ($store:ty, $table:ident, operational: $operational:expr, owes: $owes:expr) => {
        Kept {
            name: <$store>::NAME,
            operational: &$operational,
            fold: |fold| &fold.$table,
            known: |document| known(document, |fold| &fold.$table),
            owes: $owes,
        }
    };
}

/// Every such collection, in the order in which they are brought back: customers last, since
/// they show what the others come to.
pub(super) static KEPT: [Kept; 6] = [
    kept!(Subscriptions, subscriptions, operational: ["nextCheck"], owes: None),
    kept!(Checkouts, checkouts, operational: [], owes: None),
    kept!(Invoices, invoices, operational: [], owes: None),
    kept!(Payments, payments, operational: [], owes: None),
    kept!(Purchases, purchases, operational: [], owes: Some(purchase_owes)),
    // What waits for the user tells how things stood when it fell due.
    kept!(Customers, customers, operational: ["owed"], owes: None),
];

/// `_table` only says which type it is.
fn known<T: Serialize + serde::de::DeserializeOwned>(
    document: &Document,
    _table: fn(&Fold) -> &Table<T>,
) -> Result<Document, bson::error::Error> {
    let document: T = bson::deserialize_from_document(document.clone())?;
    bson::serialize_to_document(&document)
}

/// What is compared as one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A document.
    Document(&'static Kept),
    /// The sums of a purchase's credit entries, user by user.
    Entries,
    /// A balance, which is the sum of its entries: no matter of the ledger.
    Account,
}

/// One of them: its key is the document's, the purchase's or the account's.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) kind: Kind,
    pub(super) key: String,
}

impl Unit {
    /// The collection it stands in.
    pub(super) fn collection(&self) -> &'static str {
        match self.kind {
            Kind::Document(kept) => kept.name,
            Kind::Entries => CreditEntries::NAME,
            Kind::Account => CreditAccounts::NAME,
        }
    }

    /// Whether the ledger says anything of it. A balance is no matter of the ledger.
    pub(super) fn is_known(&self, fold: &Fold) -> bool {
        match self.kind {
            Kind::Document(kept) => !(kept.fold)(fold).is_absent(&self.key),
            Kind::Entries => fold.purchases.contains_key(&self.key),
            Kind::Account => true,
        }
    }

    /// Its name among all.
    pub(super) fn name(&self) -> (&'static str, String) {
        (self.collection(), self.key.clone())
    }
}
