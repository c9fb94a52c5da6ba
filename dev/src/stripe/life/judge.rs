//! Whether somebody who was told a whole life knows the truth of it, or says that he does
//! not. Wrong *and* unflagged is the one thing that must never be.

use std::collections::{BTreeMap, BTreeSet};

use bson::DateTime;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

use super::truth::{SubscriptionTruth, TOLD, Truth};

/// What somebody knows in the end, by each document's key.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Subscriptions.
    pub subscriptions: BTreeMap<String, Subscription>,
    /// Customers.
    pub customers: BTreeMap<String, Customer>,
    /// Purchases.
    pub purchases: BTreeMap<String, Purchase>,
    /// Credits, by the book's key of the user.
    pub balances: BTreeMap<String, i64>,
    /// Keys of the one-off messages, each as often as it was written.
    pub told: Vec<String>,
}

/// How knowledge and truth compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is not known for certain, and said to be so.
    pub flagged: Vec<String>,
    /// What is not so, and not flagged.
    pub wrong: Vec<String>,
}

impl Verdict {
    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(what());
        }
    }
}

/// Compares.
#[must_use]
pub fn judge(truth: &Truth, known: &Known) -> Verdict {
    let mut verdict = Verdict::default();
    for (id, so) in &truth.subscriptions {
        match known.subscriptions.get(&truth.book.key(id)) {
            Some(shown) => subscription(so, shown, &mut verdict),
            None => verdict.wrong.push(format!("{id} is not known")),
        }
    }
    match known.customers.get(&truth.book.key(&truth.customer)) {
        Some(shown) => customer(truth, shown, &mut verdict),
        None => verdict.wrong.push("the customer is not known".to_owned()),
    }
    let balance = known.balances.get(&truth.book.key(&truth.user));
    let balance = balance.copied().unwrap_or(0);
    verdict.check(balance == truth.balance, || {
        format!("balance {balance}, in truth {}", truth.balance)
    });
    for id in &truth.paid_twice {
        let purchase = known.purchases.get(&truth.book.key(id));
        let says = |purchase: &Purchase| purchase.flags.iter().any(|flag| flag == "second_payment");
        verdict.check(purchase.is_some_and(says), || {
            format!("{id} was paid twice and doesn't say so")
        });
    }
    messages(truth, known, &mut verdict);
    verdict
}

fn subscription(so: &SubscriptionTruth, shown: &Subscription, verdict: &mut Verdict) {
    let id = &shown.subscription_id;
    if shown.provisional {
        verdict.flagged.push(id.clone());
        let mut images = shown.register.events.iter().map(|seen| &seen.after.status);
        verdict.check(images.any(|status| *status == so.status), || {
            format!("{id}: {} is not among what it may be", so.status)
        });
        return;
    }
    let knows = SubscriptionTruth {
        status: shown.status.clone(),
        plan: shown.plan.clone().unwrap_or_default(),
        quantity: shown.quantity.unwrap_or(0),
        period: (
            seconds(shown.current_period_start).unwrap_or(0),
            seconds(shown.current_period_end).unwrap_or(0),
        ),
        cancel_at_period_end: shown.cancel_at_period_end,
        cancel_at: seconds(shown.cancel_at),
        canceled_at: seconds(shown.canceled_at),
        ended_at: seconds(shown.ended_at),
        trial_end: seconds(shown.trial_end),
        collection_paused: shown.collection_paused,
    };
    verdict.check(knows == *so, || format!("{id}: {knows:?}, in truth {so:?}"));
}

fn customer(truth: &Truth, shown: &Customer, verdict: &mut Verdict) {
    let user = shown.user_id.as_deref();
    verdict.check(user == Some(&truth.user), || {
        format!("the user is {user:?}, in truth {}", truth.user)
    });
    let view = &shown.entitlement;
    let giving: Vec<_> = truth.giving_access().collect();
    // Doubt may give too much for a while. It never takes away.
    verdict.check(view.entitled || giving.is_empty(), || {
        "access was taken away".to_owned()
    });
    if view.provisional {
        verdict.flagged.push(truth.customer.clone());
        return;
    }
    verdict.check(view.entitled != giving.is_empty(), || {
        format!(
            "entitled: {}, in truth {}",
            view.entitled,
            !giving.is_empty()
        )
    });
    // Of several, which one is shown is a matter of taste.
    if let [(id, so)] = giving.as_slice() {
        let knows = (
            view.subscription_id.as_deref(),
            view.status.as_deref(),
            view.plan.as_deref(),
            view.quantity,
            seconds(view.until),
        );
        let so = (
            Some(id.as_str()),
            Some(so.status.as_str()),
            Some(so.plan.as_str()),
            Some(so.quantity),
            Some(so.period.1),
        );
        verdict.check(knows == so, || format!("shows {knows:?}, in truth {so:?}"));
    }
}

/// Exactly what was due, each once.
fn messages(truth: &Truth, known: &Known, verdict: &mut Verdict) {
    let prefix = truth.book.key("");
    let (mut told, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for key in &known.told {
        verdict.check(seen.insert(key), || format!("{key} was written twice"));
        let Some(key) = key.strip_prefix(&prefix) else {
            continue;
        };
        if TOLD.iter().any(|kind| key.starts_with(kind)) && is_about(truth, key) {
            told.insert(key.to_owned());
        }
    }
    verdict.check(told == truth.told, || {
        format!("told {told:?}, in truth {:?}", truth.told)
    });
}

/// Whether a message is of this life: several may be known at once.
fn is_about(truth: &Truth, key: &str) -> bool {
    let about = key.split(':').nth(1).unwrap_or_default();
    truth.subscriptions.contains_key(about)
        || truth.purchases.contains(about)
        || truth.reversals.contains(about)
}

fn seconds(at: Option<DateTime>) -> Option<i64> {
    at.map(|at| at.timestamp_millis() / 1_000)
}
