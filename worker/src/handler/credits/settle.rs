//! What a purchase comes to, from everything seen of it: its state, its flags, whom it
//! grants how much. Entries are never changed: where the sum of those there are is not what
//! it should be, one more brings it there.

use std::collections::{BTreeMap, BTreeSet};

use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::super::Case;
use super::super::affected::emit;
use super::super::decision::Changes;
use super::super::effects::{self, Paid};

/// Something a person should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// Amount, currency or quantity are not the catalogue's.
    AmountMismatch,
    /// Events tell different things of one purchase.
    VersionsDiffer,
    /// Paid twice; one of them is a candidate for a refund.
    SecondPayment,
    /// One of its payments is claimed by another purchase, too.
    PaymentClaimedTwice,
}

impl Flag {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AmountMismatch => "amount_mismatch",
            Self::VersionsDiffer => "versions_differ",
            Self::SecondPayment => "second_payment",
            Self::PaymentClaimedTwice => "payment_claimed_twice",
        }
    }

    /// Whether the purchase is in conflict with it. A second payment is money to give back,
    /// but no doubt about the first.
    const fn is_conflict(self) -> bool {
        match self {
            Self::AmountMismatch | Self::VersionsDiffer | Self::PaymentClaimedTwice => true,
            Self::SecondPayment => false,
        }
    }
}

/// Brings the purchase's view, its entries and its effects to what was seen of it. Answers
/// which of its versions it grants for.
pub(super) fn settle(
    case: &Case<'_>,
    purchase: &mut Purchase,
    payments: &[Payment],
    paid: Option<&Paid>,
    changes: &mut Changes,
) -> Option<PurchaseVersion> {
    let book = &case.event.book;
    let granted = granted(purchase, payments).cloned();
    let flags = flags(purchase, payments);
    let conflict = flags.iter().any(|flag| flag.is_conflict());
    purchase.state = match (conflict, &granted) {
        (true, _) => PurchaseState::Conflict,
        (false, Some(_)) => PurchaseState::Granted,
        (false, None) => PurchaseState::Pending,
    };
    purchase.flags = flags.iter().map(|flag| flag.as_str().to_owned()).collect();
    purchase.flags.sort();
    let target = granted
        .as_ref()
        .map(|version| (version.user_id.clone(), version.credits.unwrap_or(0)));
    purchase.user_id = target.as_ref().map(|(user, _)| user.clone());
    purchase.sku = granted.as_ref().map(|version| version.sku.clone());
    purchase.granted = target.as_ref().map_or(0, |(_, credits)| *credits);

    let known = case.facts.entries_of(&purchase.purchase_id);
    let entries = entries(case, purchase, target.as_ref(), known);
    changes.entries.extend(entries);
    let due = [
        conflict.then(|| effects::purchase_conflict(book, purchase)),
        target
            .as_ref()
            .map(|(user, _)| effects::credits_granted(book, user, purchase)),
        target
            .as_ref()
            .map(|(user, _)| effects::receipt(book, user, purchase, paid)),
    ];
    for effect in due.into_iter().flatten() {
        emit(effect, &mut purchase.emitted, changes);
    }
    granted
}

/// The oldest version that is as the catalogue asks and was paid by a payment of this
/// purchase's own. A later one changes nothing: a purchase grants once.
fn granted<'a>(purchase: &'a Purchase, payments: &[Payment]) -> Option<&'a PurchaseVersion> {
    let versions = purchase.versions.iter();
    versions
        .filter(|version| version.credits.is_some())
        .filter(|version| {
            let mut own = version.payments.iter();
            own.any(|payment| owns(purchase, payments, payment))
        })
        .min_by_key(|version| (version.created, &version.event_id))
}

fn owns(purchase: &Purchase, payments: &[Payment], payment: &str) -> bool {
    let found = payments.iter().find(|other| other.payment_id == payment);
    found.and_then(Payment::owner) == Some(&purchase.purchase_id)
}

fn flags(purchase: &Purchase, payments: &[Payment]) -> Vec<Flag> {
    let made: BTreeSet<&str> = purchase
        .versions
        .iter()
        .flat_map(|version| version.payments.iter().map(String::as_str))
        .collect();
    let own = made
        .iter()
        .filter(|payment| owns(purchase, payments, payment));
    let claims = |payment: &Payment| {
        let mut claims = payment.claims.iter();
        payment.claims.len() > 1 && claims.any(|claim| claim.purchase_id == purchase.purchase_id)
    };
    let wrong = purchase
        .versions
        .iter()
        .any(|version| version.credits.is_none() && !version.payments.is_empty());
    let raised = [
        (Flag::AmountMismatch, wrong),
        (Flag::VersionsDiffer, purchase.versions.len() > 1),
        (Flag::SecondPayment, own.count() > 1),
        (Flag::PaymentClaimedTwice, payments.iter().any(claims)),
    ];
    let raised = raised.into_iter().filter(|(_, is)| *is);
    raised.map(|(flag, _)| flag).collect()
}

/// What is missing between the sum of the entries and what it should be, user by user.
fn entries(
    case: &Case<'_>,
    purchase: &Purchase,
    target: Option<&(String, i64)>,
    known: &[CreditEntry],
) -> Vec<CreditEntry> {
    let event = case.event;
    let mut missing: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in known {
        *missing.entry(&entry.user_id).or_default() -= entry.credits;
    }
    if let Some((user, credits)) = target {
        *missing.entry(user).or_default() += credits;
    }
    let id = &purchase.purchase_id;
    let grant = event.book.key(&format!("grant:{id}:pack"));
    let mut granted = known.iter().any(|entry| entry.key == grant);
    let mut entries = Vec::new();
    for (user, credits) in missing.into_iter().filter(|(_, credits)| *credits != 0) {
        let first = credits > 0 && !granted;
        granted |= first;
        let (key, kind) = if first {
            (grant.clone(), "grant")
        } else {
            let key = format!("correction:{id}:{}:{user}", event.id);
            (event.book.key(&key), "correction")
        };
        entries.push(CreditEntry {
            key,
            account: event.book.account.clone(),
            livemode: event.book.livemode,
            user_id: user.to_owned(),
            purchase_id: id.clone(),
            kind: kind.to_owned(),
            credits,
            event_id: event.id.clone(),
            at: case.now,
        });
    }
    entries
}
