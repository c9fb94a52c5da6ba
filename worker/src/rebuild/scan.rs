//! Each live collection from its first key to its last, beside the fold: what might differ.
//! The live state moves meanwhile, so nothing is said of a suspect here.

use std::collections::{BTreeMap, BTreeSet};

use bson::Document;
use hookledger_shared::model::book::Book;
use hookledger_shared::store::{CreditAccounts, CreditEntries, Stores};

use super::kept::{KEPT, Kept, Kind, Unit};
use super::sums::{self, Sums};
use super::{Rebuild, RebuildError, compare, knots};
use crate::fold::Fold;

/// Documents a page.
const PAGE: i64 = 1_000;

/// Of so many that the ledger does not know, the events they name are kept: enough to tell
/// whether it has lost any.
const NAMING: usize = 1_000;

/// A unit of which the ledger knows nothing. In an old installation these are most of all,
/// so of each there is only what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Extra {
    pub(super) unit: Unit,
    /// What it hangs together with.
    pub(super) knots: BTreeSet<String>,
}

/// What a scan came to.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Units that are not as the fold has them.
    pub(super) suspects: Vec<Unit>,
    /// Units that the fold does not have.
    pub(super) extra: Vec<Extra>,
    /// Events that some of these name.
    pub(super) named: BTreeSet<String>,
}

impl Scanned {
    fn suspect(&mut self, kind: Kind, key: &str) {
        let key = key.to_owned();
        self.suspects.push(Unit { kind, key });
    }

    fn extra(&mut self, kind: Kind, key: &str, live: &Document) {
        if self.extra.len() < NAMING {
            self.named.extend(knots::events(live));
        }
        let knots = knots::of_document(key, live);
        let key = key.to_owned();
        let unit = Unit { kind, key };
        self.extra.push(Extra { unit, knots });
    }

    /// Those that a later catch-up has brought are suspects like all others.
    pub(super) fn look_again(&mut self, fold: &Fold) {
        let known = |extra: &mut Extra| extra.unit.is_known(fold);
        let known: Vec<_> = self.extra.extract_if(.., known).collect();
        self.suspects
            .extend(known.into_iter().map(|extra| extra.unit));
    }
}

/// Every unit that is not as the fold has it.
pub(super) async fn scan(rebuild: &Rebuild<'_>, fold: &Fold) -> Result<Scanned, RebuildError> {
    let mut scanned = Scanned::default();
    for kept in &KEPT {
        documents(rebuild.stores, kept, fold, &mut scanned).await?;
    }
    credits(rebuild.stores, fold, &mut scanned).await?;
    Ok(scanned)
}

/// Live keys and the fold's, side by side: both come in the order of their bytes.
async fn documents(
    stores: &Stores,
    kept: &'static Kept,
    fold: &Fold,
    scanned: &mut Scanned,
) -> Result<(), RebuildError> {
    let table = (kept.fold)(fold);
    let kind = Kind::Document(kept);
    let mut after: Option<String> = None;
    loop {
        let page = stores
            .documents_after(kept.name, after.as_deref(), PAGE)
            .await?;
        for live in &page {
            let Some(key) = key(live) else { continue };
            let missing = table.between(after.as_deref(), Some(key));
            let missing = missing.into_iter().filter(|other| *other != key);
            missing.for_each(|key| scanned.suspect(kind, key));
            match table.document(key)? {
                None => scanned.extra(kind, key, live),
                Some(rebuilt) => {
                    if compare::documents(kept, Some(live), Some(&rebuilt)).is_some() {
                        scanned.suspect(kind, key);
                    }
                }
            }
            after = Some(key.to_owned());
        }
        if page.last().and_then(key).is_none() {
            break;
        }
    }
    let missing = table.between(after.as_deref(), None);
    missing
        .into_iter()
        .for_each(|key| scanned.suspect(kind, key));
    Ok(())
}

/// Entries by purchase beside the fold's, and balances beside the sums of live entries.
async fn credits(stores: &Stores, fold: &Fold, scanned: &mut Scanned) -> Result<(), RebuildError> {
    let mut by_purchase: BTreeMap<String, Sums> = BTreeMap::new();
    let mut by_user: Sums = Sums::new();
    let mut after = None;
    while let Some(page) = page(stores, CreditEntries::NAME, &mut after).await? {
        for entry in page {
            let (Some(book), Some((user, credits))) = (book(&entry), sums::entry(&entry)) else {
                continue;
            };
            sums::add(&mut by_user, book.key(user), credits);
            let purchase = book.key(entry.get_str("purchaseId").unwrap_or_default());
            let of_purchase = by_purchase.entry(purchase).or_default();
            sums::add(of_purchase, user.to_owned(), credits);
        }
    }
    for purchase in fold.purchases.keys() {
        by_purchase.entry(purchase.clone()).or_default();
    }
    for (key, mut sums) in by_purchase {
        sums.retain(|_, sum| *sum != 0);
        if !fold.purchases.contains_key(&key) {
            scanned.extra(Kind::Entries, &key, &Document::new());
        } else if sums != sums::folded(fold, &key) {
            scanned.suspect(Kind::Entries, &key);
        }
    }
    let mut after = None;
    while let Some(page) = page(stores, CreditAccounts::NAME, &mut after).await? {
        for account in page {
            let Some(key) = key(&account) else { continue };
            let sum = by_user.remove(key).unwrap_or_default();
            if account.get_i64("balance").ok() != Some(sum) {
                scanned.suspect(Kind::Account, key);
            }
        }
    }
    // Entries of users without an account.
    let left = by_user.keys();
    left.for_each(|key| scanned.suspect(Kind::Account, key));
    Ok(())
}

async fn page(
    stores: &Stores,
    collection: &str,
    after: &mut Option<String>,
) -> Result<Option<Vec<Document>>, RebuildError> {
    let page = stores
        .documents_after(collection, after.as_deref(), PAGE)
        .await?;
    let Some(last) = page.last().and_then(key) else {
        return Ok(None);
    };
    *after = Some(last.to_owned());
    Ok(Some(page))
}

fn key(document: &Document) -> Option<&str> {
    document.get_str("_id").ok()
}

fn book(entry: &Document) -> Option<Book> {
    let account = entry.get_str("account").ok()?;
    Some(Book::new(Some(account), entry.get_bool("livemode").ok()?))
}
