//! Reading one unit of the live state, so that a later reading shows whether it moved.

use bson::{Document, doc};
use hookledger_shared::store::{CreditEntries, Purchases, StoreError, Stores};

use super::compare::{self, Difference, Field};
use super::kept::{Kind, Unit};
use super::{RebuildError, knots, sums};
use crate::fold::Fold;

/// A unit as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observed {
    /// The document; of entries, the purchase, which everybody writes who writes them.
    pub(super) document: Option<Document>,
    /// The entries, of what has such.
    pub(super) entries: Vec<Document>,
}

impl Observed {
    /// The version, which every write moves.
    pub(super) fn version(&self) -> Option<i64> {
        self.document.as_ref()?.get_i64("version").ok()
    }

    /// Reads it. The document comes first: while it stands still, its entries do.
    pub(super) async fn read(stores: &Stores, unit: &Unit) -> Result<Self, StoreError> {
        let key = &unit.key;
        let (collection, field) = match unit.kind {
            Kind::Document(kept) => (kept.name, None),
            Kind::Entries => (Purchases::NAME, Some("purchaseId")),
            Kind::Account => (unit.collection(), Some("userId")),
        };
        let document = stores.document(collection, key).await?;
        let entries = match (field, knots::of_key(key)) {
            (Some(field), Some((book, id))) => {
                let filter = doc! {
                    "account": &book.account, "livemode": book.livemode, field: id,
                };
                stores.documents_where(CreditEntries::NAME, filter).await?
            }
            (None, _) | (_, None) => Vec::new(),
        };
        Ok(Self { document, entries })
    }
}

/// A unit beside the fold.
pub(super) fn difference(
    unit: &Unit,
    live: &Observed,
    fold: &Fold,
) -> Result<Option<Difference>, RebuildError> {
    match unit.kind {
        Kind::Document(kept) => {
            let rebuilt = (kept.fold)(fold).document(&unit.key)?;
            Ok(compare::documents(
                kept,
                live.document.as_ref(),
                rebuilt.as_ref(),
            ))
        }
        Kind::Entries => {
            let (live, rebuilt) = (sums::live(&live.entries), sums::folded(fold, &unit.key));
            let total = |sums: &sums::Sums| sums.values().sum();
            let field = || counted("credits", Some(total(&live)), total(&rebuilt));
            Ok((live != rebuilt).then(|| Difference::Fields(vec![field()])))
        }
        Kind::Account => {
            let entries = live.entries.iter().filter_map(sums::entry);
            let sum = entries.map(|(_, credits)| credits).sum();
            let Some(account) = &live.document else {
                return Ok((!live.entries.is_empty()).then_some(Difference::Missing));
            };
            let balance = account.get_i64("balance").ok();
            let field = || counted("balance", balance, sum);
            Ok((balance != Some(sum)).then(|| Difference::Fields(vec![field()])))
        }
    }
}

fn counted(name: &str, live: Option<i64>, rebuilt: i64) -> Field {
    Field {
        name: name.to_owned(),
        live: live.map(|number| number.to_string()),
        rebuilt: Some(rebuilt.to_string()),
    }
}
