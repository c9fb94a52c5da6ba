//! Each live collection from its first key to its last, beside the fold: what might differ.
//! The live state moves meanwhile, so nothing is said of a suspect here.

use std::collections::BTreeMap;

use bson::Document;
use hookledger_shared::model::book::Book;
use hookledger_shared::store::{CreditAccounts, CreditEntries, Stores};

use super::kept::{KEPT, Kept, Kind, Unit};
use super::sums::{self, Sums};
use super::{Rebuild, RebuildError, compare};
use crate::fold::Fold;

/// Documents a page.
const PAGE: i64 = 1_000;

/// Every unit that is not as the fold has it.
pub(super) async fn scan(rebuild: &Rebuild<'_>, fold: &Fold) -> Result<Vec<Unit>, RebuildError> {
    let mut suspects = Vec::new();
    for kept in &KEPT {
        documents(rebuild.stores, kept, fold, &mut suspects).await?;
    }
    credits(rebuild.stores, fold, &mut suspects).await?;
    Ok(suspects)
}

/// Live keys and the fold's, side by side: both come in the order of their bytes.
async fn documents(
    stores: &Stores,
    kept: &'static Kept,
    fold: &Fold,
    suspects: &mut Vec<Unit>,
) -> Result<(), RebuildError> {
    let table = (kept.fold)(fold);
    let mut suspect = |key: &str| {
        suspects.push(Unit {
            kind: Kind::Document(kept),
            key: key.to_owned(),
        });
    };
    let mut after: Option<String> = None;
    loop {
        let page = stores
            .documents_after(kept.name, after.as_deref(), PAGE)
            .await?;
        for live in &page {
            let Some(key) = key(live) else { continue };
            let missing = table.between(after.as_deref(), Some(key));
            let missing = missing.into_iter().filter(|other| *other != key);
            missing.for_each(&mut suspect);
            let rebuilt = table.document(key)?;
            if compare::documents(kept, Some(live), rebuilt.as_ref()).is_some() {
                suspect(key);
            }
            after = Some(key.to_owned());
        }
        if page.last().and_then(key).is_none() {
            break;
        }
    }
    let missing = table.between(after.as_deref(), None);
    missing.into_iter().for_each(&mut suspect);
    Ok(())
}

/// Entries by purchase beside the fold's, and balances beside the sums of live entries.
async fn credits(
    stores: &Stores,
    fold: &Fold,
    suspects: &mut Vec<Unit>,
) -> Result<(), RebuildError> {
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
        if sums != sums::folded(fold, &key) {
            let kind = Kind::Entries;
            suspects.push(Unit { kind, key });
        }
    }
    let mut after = None;
    while let Some(page) = page(stores, CreditAccounts::NAME, &mut after).await? {
        for account in page {
            let Some(key) = key(&account) else { continue };
            let sum = by_user.remove(key).unwrap_or_default();
            if account.get_i64("balance").ok() != Some(sum) {
                let (kind, key) = (Kind::Account, key.to_owned());
                suspects.push(Unit { kind, key });
            }
        }
    }
    // Entries of users without an account.
    let kind = Kind::Account;
    suspects.extend(by_user.into_keys().map(|key| Unit { kind, key }));
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
