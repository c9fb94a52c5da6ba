//! Purchases of credits: evidence of one joins what was seen of it, and what it grants is
//! computed again from all of that, with what refunds and disputes have taken back.
//!
//! - `versions`: joins one event's evidence into the purchase. Sets only, of which the
//!   oldest statement leads, so order doesn't matter.
//! - `reversal`: what money that went back takes away, by arithmetic alone.
//! - `settle`: the purchase's state, flags and grant.
//! - `entries`: the entries that bring the sum of its entries there.
//!
//! A payment belongs to one purchase, the one that claimed it first. News of one purchase
//! can therefore change another that shares a payment with it: all of them are settled.

mod entries;
mod reversal;
mod settle;
mod versions;

use std::collections::BTreeSet;

use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::decision::{Changes, Decision, RejectKind, Rejection};
use super::effects::Paid;
use super::facts::{Facts, Need};
use super::payment::Paying;
use super::{Case, affected};
use crate::stripe::pack::PackRead;

/// How long a payment that does not explain itself (its total does not fit, or nobody is
/// named) waits for a checkout that does.
const PATIENCE_MS: i64 = 3_600_000;

/// What one event says of a sale.
#[derive(Debug, Clone)]
pub(super) struct Sale<'a> {
    /// Which pack, and how many.
    pub(super) pack: &'a PackRead,
    /// The product's id of the purchase, or what stands in for one.
    pub(super) purchase_id: &'a str,
    /// Whose it is at the provider.
    pub(super) customer_id: Option<&'a str>,
    /// Who bought.
    pub(super) user_id: Option<String>,
    /// Before tax and discount, unless `total`.
    pub(super) amount: Option<i64>,
    /// Lower-case.
    pub(super) currency: Option<&'a str>,
    /// The amount is what was paid after tax and discount: all that a payment knows.
    pub(super) total: bool,
    /// Only when it was paid.
    pub(super) paid: Option<Paid>,
}

/// What a sale came to.
pub(super) enum Verdict {
    /// As it should be.
    Fine,
    /// It can't be judged before this has arrived.
    Waits(String),
    /// It needs a person.
    Wrong(RejectKind, String),
}

impl Verdict {
    /// As the event's decision.
    pub(super) fn decision(self, stale: bool, changes: Changes) -> Decision {
        match self {
            Self::Waits(waits_for) => Decision::Defer { waits_for },
            Self::Wrong(kind, message) => Decision::Reject(Rejection {
                kind,
                message,
                record: Some(Box::new(changes)),
            }),
            Self::Fine if stale || changes.is_empty() => Decision::Stale(changes),
            Self::Fine => Decision::Apply(changes),
        }
    }
}

/// What [`sell`] and [`settle`] read: the payment and the purchase, and all that share a
/// payment with them.
pub(super) fn needs(payment: &str, purchase: Option<&str>, facts: &Facts) -> Vec<Need> {
    let mut payments = BTreeSet::from([payment.to_owned()]);
    let mut purchases: BTreeSet<String> = purchase.into_iter().map(str::to_owned).collect();
    loop {
        let size = payments.len() + purchases.len();
        for claimed in payments.iter().filter_map(|id| facts.payment(id)) {
            let claims = claimed.claims.iter();
            purchases.extend(claims.map(|claim| claim.purchase_id.clone()));
        }
        for seen in purchases.iter().filter_map(|id| facts.purchase(id)) {
            payments.extend(seen.payments.iter().cloned());
            // One that was not paid has claimed its payment all the same.
            let asks = seen.versions.iter().flat_map(|version| &version.asks);
            payments.extend(asks.cloned());
        }
        if payments.len() + purchases.len() == size {
            break;
        }
    }
    let of_purchase = |id: String| [Need::Purchase(id.clone()), Need::EntriesOf(id)];
    let payments = payments.into_iter().map(Need::Payment);
    payments
        .chain(purchases.into_iter().flat_map(of_purchase))
        .collect()
}

/// Takes in a sale and writes down what follows, also where the verdict is that it is wrong.
pub(super) fn sell(
    case: &Case<'_>,
    mut paying: Paying<'_>,
    sale: &Sale<'_>,
    changes: &mut Changes,
) -> Verdict {
    let book = &case.event.book;
    let sku = &sale.pack.sku;
    let Some(pack) = case.rules.catalogue.get(sku) else {
        settle(case, paying.finish(), changes);
        let message = format!("the catalogue has no pack of sku {sku:?}");
        return Verdict::Wrong(RejectKind::UnknownSku, message);
    };
    let stored = case.facts.purchase(sale.purchase_id);
    let told = stored.is_some_and(versions::told_by_checkout);
    if sale.total && told {
        // The checkout knows the amount before tax and discount; this only proves payment.
        paying.claim(sale.purchase_id);
        let purchase = versions::paid(case, sale, paying.payment_id());
        let paid = sale.paid.as_ref();
        settle_all(case, paying.finish(), Some(purchase), paid, changes);
        return Verdict::Fine;
    }
    let checkout = book.key(&format!("checkout_of:{}", sale.purchase_id));
    let explained_later = sale.total && is_young(case);
    let Some(user) = &sale.user_id else {
        let Some(customer) = sale.customer_id else {
            if explained_later {
                return Verdict::Waits(checkout);
            }
            settle(case, paying.finish(), changes);
            let message = "neither the sale nor a customer says whose it is".to_owned();
            return Verdict::Wrong(RejectKind::UnlinkedPurchase, message);
        };
        return Verdict::Waits(affected::link_of(book, customer));
    };
    let version = versions::version(case, sale, user, pack, paying.payment_id());
    if explained_later && version.credits.is_none() {
        return Verdict::Waits(checkout);
    }
    if !sale.total && !told {
        changes.arrived.push(checkout);
    }
    paying.claim(sale.purchase_id);
    let purchase = versions::seen(case, sale, version.clone());
    let paid = sale.paid.as_ref();
    let settled = settle_all(case, paying.finish(), Some(purchase), paid, changes);
    match settled {
        Some(settled) if settled.contradicts(&version) => {
            let flags = settled.flags.join(", ");
            let id = sale.purchase_id;
            let message = format!("purchase {id:?} is in conflict: {flags}");
            Verdict::Wrong(RejectKind::AmountMismatch, message)
        }
        Some(_) | None => Verdict::Fine,
    }
}

/// Whether what explains the event may still be on its way.
fn is_young(case: &Case<'_>) -> bool {
    let came = case.event.received_at.timestamp_millis();
    let waited = case.now.timestamp_millis().saturating_sub(came);
    waited < PATIENCE_MS
}

/// Takes in what became of a payment, whose sale is told elsewhere.
pub(super) fn settle(case: &Case<'_>, payment: Payment, changes: &mut Changes) {
    settle_all(case, payment, None, None, changes);
}

/// Settles every purchase that hangs together with the payment, `mine` among them. Answers
/// what `mine` came to.
fn settle_all(
    case: &Case<'_>,
    mut payment: Payment,
    mine: Option<Purchase>,
    paid: Option<&Paid>,
    changes: &mut Changes,
) -> Option<Settled> {
    let facts = case.facts;
    if facts.payment(&payment.payment_id) != Some(&payment) {
        payment.version += 1;
        changes.payments.push(payment.clone());
    }
    let others = facts.payments.values().flatten();
    let others = others.filter(|other| other.id != payment.id);
    let payments: Vec<&Payment> = others.chain([&payment]).collect();
    let is_mine = |other: &Purchase| mine.as_ref().is_some_and(|mine| mine.id == other.id);
    let others = facts.purchases.values().flatten();
    for other in others.filter(|other| !is_mine(other)) {
        settle_one(case, other.clone(), &payments, paid, changes);
    }
    mine.map(|mine| settle_one(case, mine, &payments, paid, changes))
}

/// Settles one purchase and writes it down if it changed.
fn settle_one(
    case: &Case<'_>,
    mut purchase: Purchase,
    payments: &[&Payment],
    paid: Option<&Paid>,
    changes: &mut Changes,
) -> Settled {
    let granted = settle::settle(case, &mut purchase, payments, paid, changes);
    let settled = Settled {
        granted,
        state: purchase.state,
        flags: purchase.flags.clone(),
    };
    if case.facts.purchase(&purchase.purchase_id) != Some(&purchase) {
        purchase.version += 1;
        changes.purchases.push(purchase);
    }
    settled
}

/// What a purchase came to.
struct Settled {
    granted: Option<PurchaseVersion>,
    state: PurchaseState,
    flags: Vec<String>,
}

impl Settled {
    /// The purchase is in conflict, and it is not this version that it grants for.
    fn contradicts(&self, version: &PurchaseVersion) -> bool {
        let granted = self.granted.as_ref();
        self.state == PurchaseState::Conflict
            && !granted.is_some_and(|granted| versions::same(granted, version))
    }
}

/// Whether a payment is this purchase's own: others may claim it, too.
fn owns(purchase: &Purchase, payment: &Payment) -> bool {
    payment.owner() == Some(&purchase.purchase_id)
}
