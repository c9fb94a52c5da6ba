//! Which of the differences the ledger can speak of. What it can't tell of one object it
//! can't tell of those that hang on it either, so doubt spreads along the ids that documents
//! name. Pure.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document};
use hookledger_shared::store::{CreditEntries, Payments, Purchases};

use super::kept::{Kind, Unit};
use super::knots;
use super::scan::Extra;
use super::settle::Lasting;
use crate::fold::Fold;

/// Why the ledger can't say how a document should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// It, or what it hangs on, is older than what the ledger still holds.
    Older,
    /// An event about it can't be read.
    Unreadable,
    /// The catalogue does not price it as it did when it was bought.
    Catalogue,
    /// Its customer's links name several users, so it depends on the order of events.
    LinksInConflict,
}

impl Reason {
    /// The word in reports.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Older => "older_than_the_ledger",
            Self::Unreadable => "unreadable_event",
            Self::Catalogue => "catalogue_changed",
            Self::LinksInConflict => "links_in_conflict",
        }
    }

    /// Whether it says something of purchases and payments only.
    const fn is_about_money(self) -> bool {
        match self {
            Self::Older | Self::Unreadable => false,
            Self::Catalogue | Self::LinksInConflict => true,
        }
    }
}

/// What is known of the ledger.
pub(super) struct Ledger<'a> {
    pub(super) fold: &'a Fold,
    /// Events that differing documents name and the ledger does not hold any more.
    pub(super) lost: BTreeSet<String>,
    /// It is so old that rows of it may have expired.
    pub(super) shortened: bool,
    /// Objects that were made before it begins.
    pub(super) older: &'a BTreeSet<String>,
    /// Objects of events that can't be read.
    pub(super) unreadable: &'a BTreeSet<String>,
    /// Objects whose pack the catalogue does not have any more.
    pub(super) retired: &'a BTreeSet<String>,
}

/// The events that differing documents name.
pub(super) fn named(lasting: &[Lasting]) -> BTreeSet<String> {
    let documents = lasting.iter().filter_map(|l| l.live.document.as_ref());
    documents.flat_map(knots::events).collect()
}

/// The differences that count, and those that don't, each with its reason. Of what is extra
/// none counts.
pub(super) fn judge(
    lasting: Vec<Lasting>,
    extra: &[Extra],
    ledger: &Ledger<'_>,
) -> (Vec<Lasting>, Vec<(Unit, Reason)>) {
    let mut doubtful = BTreeMap::new();
    let mut untold = Vec::new();
    for Extra { unit, knots } in extra {
        // Entries come after their purchase, and share its key and its reason.
        let known = matches!(unit.kind, Kind::Entries).then(|| doubtful.get(&unit.key).copied());
        let reason = known.flatten();
        let reason = reason.unwrap_or_else(|| ledger.doubts_extra(unit, knots));
        doubt(&mut doubtful, knots, reason, ledger.fold);
        untold.push((unit.clone(), reason));
    }
    let knots: Vec<_> = lasting.iter().map(|one| hangs_on(one, ledger)).collect();
    let mut reasons: Vec<_> = lasting
        .iter()
        .zip(&knots)
        .map(|(one, knots)| ledger.doubts(one, knots))
        .collect();
    spread(&lasting, &knots, &mut reasons, doubtful, ledger.fold);
    let mut differences = Vec::new();
    for (one, reason) in lasting.into_iter().zip(reasons) {
        match reason {
            Some(reason) => untold.push((one.unit, reason)),
            None => differences.push(one),
        }
    }
    (differences, untold)
}

/// Gives the reason of one to all that hang together with it.
fn spread(
    lasting: &[Lasting],
    knots: &[BTreeSet<String>],
    reasons: &mut [Option<Reason>],
    mut doubtful: BTreeMap<String, Reason>,
    fold: &Fold,
) {
    loop {
        let size = doubtful.len();
        for ((one, knots), reason) in lasting.iter().zip(knots).zip(reasons.iter_mut()) {
            if is_account(&one.unit) {
                continue;
            }
            let of_neighbour = || {
                let mut found = knots.iter().filter_map(|id| doubtful.get(id));
                found.find(|reason| is_money(&one.unit) || !reason.is_about_money())
            };
            *reason = reason.or_else(|| of_neighbour().copied());
            if let Some(reason) = *reason {
                doubt(&mut doubtful, knots, reason, fold);
            }
        }
        if doubtful.len() == size {
            return;
        }
    }
}

/// Puts all of these in doubt.
fn doubt(
    doubtful: &mut BTreeMap<String, Reason>,
    knots: &BTreeSet<String>,
    reason: Reason,
    fold: &Fold,
) {
    for id in knots {
        // A customer is in no doubt because of what it bought.
        if !(reason.is_about_money() && fold.customers.contains_key(id)) {
            doubtful.entry(id.clone()).or_insert(reason);
        }
    }
}

fn hangs_on(one: &Lasting, ledger: &Ledger<'_>) -> BTreeSet<String> {
    let key = &one.unit.key;
    let rebuilt = match one.unit.kind {
        Kind::Document(kept) => (kept.fold)(ledger.fold).document(key),
        Kind::Entries => bson::serialize_to_document(&ledger.fold.purchases.get(key)).map(Some),
        Kind::Account => Ok(None),
    };
    let rebuilt = rebuilt.ok().flatten();
    let both = rebuilt.iter().chain(&one.live.document);
    let mut knots = BTreeSet::from([key.clone()]);
    knots.extend(both.flat_map(|document| knots::of_document(key, document)));
    knots
}

fn is_account(unit: &Unit) -> bool {
    matches!(unit.kind, Kind::Account)
}

fn is_money(unit: &Unit) -> bool {
    [Payments::NAME, Purchases::NAME, CreditEntries::NAME].contains(&unit.collection())
}

impl Ledger<'_> {
    /// Why the ledger knows nothing of this one.
    fn doubts_extra(&self, unit: &Unit, knots: &BTreeSet<String>) -> Reason {
        let among = |ids: &BTreeSet<String>| knots.iter().any(|id| ids.contains(id));
        if is_money(unit) && among(self.retired) {
            Reason::Catalogue
        } else if among(self.unreadable) {
            Reason::Unreadable
        } else {
            Reason::Older
        }
    }

    /// Why the ledger can't speak of this one by itself, whatever hangs on it.
    fn doubts(&self, one: &Lasting, knots: &BTreeSet<String>) -> Option<Reason> {
        let unit = &one.unit;
        if is_account(unit) {
            return None;
        }
        let among = |ids: &BTreeSet<String>| knots.iter().any(|id| ids.contains(id));
        if is_money(unit) && (among(self.retired) || self.is_priced_anew(one)) {
            return Some(Reason::Catalogue);
        }
        if among(self.unreadable) {
            return Some(Reason::Unreadable);
        }
        let names = one.live.document.as_ref().map(knots::events);
        let names_lost = names.is_some_and(|names| !names.is_disjoint(&self.lost));
        let unknown = !unit.is_known(self.fold);
        let begins_late = self.shortened || !self.lost.is_empty();
        if names_lost || unknown || (begins_late && among(self.older)) {
            return Some(Reason::Older);
        }
        let conflict = is_money(unit) && knots.iter().any(|id| self.links_in_conflict(id));
        conflict.then_some(Reason::LinksInConflict)
    }

    /// Whether this is a customer, or a payment of one, with more than one user.
    fn links_in_conflict(&self, key: &str) -> bool {
        let payer = || {
            let payment = self.fold.payments.get(key)?;
            let (book, _) = knots::of_key(key)?;
            Some(book.key(payment.customer_id.as_deref()?))
        };
        let customer = payer().unwrap_or_else(|| key.to_owned());
        let customer = self.fold.customers.get(&customer);
        customer.is_some_and(|customer| customer.link_conflict)
    }

    /// Whether what was bought is worth something else today. A purchase says what it was
    /// worth then; without it, its first entry does.
    fn is_priced_anew(&self, one: &Lasting) -> bool {
        let Some(rebuilt) = self.fold.purchases.get(&one.unit.key) else {
            return false;
        };
        let entry = |live: &Document| {
            let key = live.get_str("_id").unwrap_or_default();
            let rebuilt = self.fold.entries.get(key)?;
            Some(live.get_i64("credits").ok()? != rebuilt.credits)
        };
        let Some(live) = &one.live.document else {
            return one.live.entries.iter().filter_map(entry).any(|is| is);
        };
        let Ok(Bson::Document(rebuilt)) = bson::serialize_to_bson(rebuilt) else {
            return false;
        };
        let versions = |of: &Document| -> Vec<Document> {
            let versions = of.get_array("versions").into_iter().flatten();
            versions.filter_map(Bson::as_document).cloned().collect()
        };
        let fields = ["userId", "sku", "quantity", "amount", "currency"];
        versions(live).iter().any(|was| {
            let is = versions(&rebuilt);
            let mut same = is
                .iter()
                .filter(|is| fields.iter().all(|name| is.get(name) == was.get(name)));
            same.any(|is| is.get("credits") != was.get("credits"))
        })
    }
}
