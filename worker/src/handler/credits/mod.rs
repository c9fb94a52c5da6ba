//! Purchases of credits: evidence of one joins what was seen of it, and what it grants is
//! computed again from all of that.
//!
//! - `evidence`: joins one event's evidence into the payment and the purchase. Sets only,
//!   of which the oldest statement leads, so order doesn't matter.
//! - `settle`: the purchase's state, flags and grant, and the entries that bring the sum of
//!   its entries there.
//!
//! A payment belongs to one purchase, the one that claimed it first. News of one purchase
//! can therefore change another that shares a payment with it: all of them are settled.

mod evidence;
mod settle;

use std::collections::BTreeSet;

use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::Case;
use super::decision::Changes;
use super::effects::Paid;
use super::facts::{Facts, Need};

/// What one event says of a purchase.
#[derive(Debug, Clone)]
pub(super) struct Evidence<'a> {
    /// The product's id of it, or what stands in for one.
    pub(super) purchase_id: &'a str,
    /// The payment for it.
    pub(super) payment_id: &'a str,
    /// The object that says so.
    pub(super) source: &'a str,
    /// Whose it is at the provider.
    pub(super) customer_id: Option<&'a str>,
    /// Who bought.
    pub(super) user_id: String,
    /// Which pack; the catalogue has it.
    pub(super) sku: &'a str,
    /// How many; none when what was written is no count.
    pub(super) quantity: Option<i64>,
    /// Before tax and discount.
    pub(super) amount: Option<i64>,
    /// Lower-case.
    pub(super) currency: Option<&'a str>,
    /// Only when it was paid.
    pub(super) paid: Option<Paid>,
}

/// What [`record`] reads: the payment and the purchase, and all that share a payment with
/// them.
pub(super) fn needs(payment: &str, purchase: &str, facts: &Facts) -> Vec<Need> {
    let (payments, purchases) = related(payment, purchase, facts);
    let of_purchase = |id: String| [Need::Purchase(id.clone()), Need::EntriesOf(id)];
    payments
        .into_iter()
        .map(Need::Payment)
        .chain(purchases.into_iter().flat_map(of_purchase))
        .collect()
}

/// The ids of the payments and of the purchases that hang together with these two.
fn related(payment: &str, purchase: &str, facts: &Facts) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut payments = BTreeSet::from([payment.to_owned()]);
    let mut purchases = BTreeSet::from([purchase.to_owned()]);
    loop {
        let size = payments.len() + purchases.len();
        for claimed in payments.iter().filter_map(|id| facts.payment(id)) {
            let claims = claimed.claims.iter();
            purchases.extend(claims.map(|claim| claim.purchase_id.clone()));
        }
        for seen in purchases.iter().filter_map(|id| facts.purchase(id)) {
            let versions = seen.versions.iter();
            payments.extend(versions.flat_map(|version| version.payments.iter().cloned()));
        }
        if payments.len() + purchases.len() == size {
            return (payments, purchases);
        }
    }
}

/// Takes in the evidence and writes down what follows.
///
/// # Errors
/// The reason, when the purchase is in conflict and this event is not what it was granted
/// for. What follows is written down all the same.
pub(super) fn record(
    case: &Case<'_>,
    evidence: &Evidence<'_>,
    changes: &mut Changes,
) -> Result<(), String> {
    let (payment_ids, purchase_ids) =
        related(evidence.payment_id, evidence.purchase_id, case.facts);
    let mut payment = evidence::payment(case, evidence);
    let others = payment_ids.iter().filter(|id| *id != evidence.payment_id);
    let mut payments: Vec<_> = others
        .filter_map(|id| case.facts.payment(id).cloned())
        .collect();
    if case.facts.payment(evidence.payment_id) != Some(&payment) {
        payment.version += 1;
        changes.payments.push(payment.clone());
    }
    payments.push(payment);

    let (mine, version) = evidence::purchase(case, evidence);
    let others = purchase_ids.iter().filter(|id| *id != evidence.purchase_id);
    for other in others.filter_map(|id| case.facts.purchase(id)) {
        settle(case, other.clone(), &payments, evidence, changes);
    }
    let settled = settle(case, mine, &payments, evidence, changes);
    let fits = settled
        .granted
        .is_some_and(|granted| evidence::same(&granted, &version));
    if settled.state == PurchaseState::Conflict && !fits {
        let flags = settled.flags.join(", ");
        let id = evidence.purchase_id;
        return Err(format!("purchase {id:?} is in conflict: {flags}"));
    }
    Ok(())
}

/// Settles one purchase and writes it down if it changed.
fn settle(
    case: &Case<'_>,
    mut purchase: Purchase,
    payments: &[Payment],
    evidence: &Evidence<'_>,
    changes: &mut Changes,
) -> Settled {
    let paid = evidence.paid.as_ref();
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
