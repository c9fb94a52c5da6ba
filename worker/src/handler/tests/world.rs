//! The fold over decisions with a test's eyes on it: nothing is written twice, versions grow
//! by one, nothing is sent twice. Rules only; what the store does is promised by the tests
//! on a real replica set.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use bson::{DateTime, Document};
use hookledger_shared::config::Pack;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

use super::super::{Changes, Decision, Effect, Family, Input, RejectKind, Rules};
use super::story::Event;
use crate::fold::{Fold, Table};

/// Everything there is, and what was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) fold: Fold,
    /// The newest message of each subject.
    pub(crate) states: BTreeMap<String, (i64, Document)>,
    /// Every one-off message, in the order of sending.
    pub(crate) once: Vec<String>,
    /// What each of them said.
    pub(crate) told: BTreeMap<String, Document>,
    pub(crate) rejected: BTreeMap<String, RejectKind>,
    /// The second at which everything is delivered; long after it happened.
    now: i64,
}

impl Deref for World {
    type Target = Fold;

    fn deref(&self) -> &Fold {
        &self.fold
    }
}

impl World {
    /// The rules of every test: one pack of 100 credits for 19.00 USD, and one of 999.
    pub(crate) fn rules() -> Rules {
        let pack = |credits, amount| Pack {
            credits,
            amount,
            currency: "usd".to_owned(),
        };
        let packs = [
            ("pack_100".to_owned(), pack(100, 1_900)),
            ("pack_999".to_owned(), pack(100, 999)),
        ];
        Rules {
            catalogue: packs.into_iter().collect(),
            ..Rules::default()
        }
    }

    /// A world in which it is now that second.
    pub(crate) fn at(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The end after these events, in this order.
    pub(crate) fn after<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut world = Self::default();
        world.take(events);
        world
    }

    /// Takes events whose type has a rule, in this order.
    pub(crate) fn take<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) {
        let rules = Self::rules();
        for event in events {
            if Family::of(event.kind).is_some() {
                self.deliver(&event.read(&rules), &rules);
            }
        }
    }

    /// Takes one event through its rule, and those that waited for what came with it.
    pub(crate) fn deliver(&mut self, input: &Input, rules: &Rules) {
        let mut fold = std::mem::take(&mut self.fold);
        let now = DateTime::from_millis(1_000 * self.now.max(1_000));
        fold.take(input.clone(), rules, now, |fold, input, decision| {
            self.see(fold, input, decision);
        });
        self.fold = fold;
    }

    fn see(&mut self, fold: &Fold, input: &Input, decision: &Decision) {
        match decision {
            Decision::Apply(changes) | Decision::Stale(changes) => self.check(fold, changes),
            Decision::Defer { .. } => {}
            Decision::Reject(rejection) => {
                self.rejected.insert(input.event.id.clone(), rejection.kind);
                if let Some(changes) = &rejection.record {
                    self.check(fold, changes);
                }
            }
        }
    }

    /// Checks what the store would refuse.
    fn check(&mut self, fold: &Fold, changes: &Changes) {
        macro_rules! grows {
            ($($documents:ident),*) => { $(
                let mut written = BTreeSet::new();
                for document in &changes.$documents {
                    let old = fold.$documents.get(&document.id);
                    assert_eq!(document.version, old.map_or(0, |old| old.version) + 1);
                    assert!(written.insert(&document.id), "{} twice", document.id);
                }
            )* };
        }
        grows!(
            subscriptions,
            customers,
            checkouts,
            invoices,
            payments,
            purchases
        );
        let mut written = BTreeSet::new();
        for entry in &changes.entries {
            assert_ne!(entry.credits, 0);
            let new = !fold.entries.contains_key(&entry.key) && written.insert(&entry.key);
            assert!(new, "an entry was written twice: {entry:?}");
        }
        for effect in &changes.effects {
            match effect {
                Effect::Once { key, payload, .. } => {
                    self.told.insert(key.clone(), payload.clone());
                    assert!(!self.once.contains(key), "{key} was sent twice");
                    self.once.push(key.clone());
                }
                Effect::State {
                    key,
                    version,
                    payload,
                    ..
                } => {
                    let newest = (*version, payload.clone());
                    let old = self.states.insert(key.clone(), newest);
                    assert!(old.is_none_or(|(old, _)| old < *version));
                }
            }
        }
    }

    /// The user's balance.
    pub(crate) fn balance(&self, user: &str) -> i64 {
        self.balances().get(user).copied().unwrap_or(0)
    }

    fn balances(&self) -> BTreeMap<String, i64> {
        let mut balances = BTreeMap::new();
        for entry in self.entries.values() {
            *balances.entry(entry.user_id.clone()).or_default() += entry.credits;
        }
        balances
    }

    /// What must not depend on order: everything but how many writes and which entries led
    /// there.
    pub(crate) fn end(&self) -> End {
        let told = self.states.iter().map(|(key, (_, payload))| {
            let mut payload = payload.clone();
            payload.remove("version");
            (key.clone(), payload)
        });
        End {
            told: told.collect(),
            // Nothing and a sum of nothing are the same.
            balances: self
                .balances()
                .into_iter()
                .filter(|(_, sum)| *sum != 0)
                .collect(),
            once: self.once.iter().cloned().collect(),
            waiting: self.waiting().count(),
            subscriptions: ends(&self.subscriptions, |document| {
                document.version = 0;
                // A hint that depends on order, as it may.
                document.next_check = None;
            }),
            customers: ends(&self.customers, |document| document.version = 0),
            checkouts: ends(&self.checkouts, |document| document.version = 0),
            invoices: ends(&self.invoices, |document| document.version = 0),
            payments: ends(&self.payments, |document| document.version = 0),
            purchases: ends(&self.purchases, |document| document.version = 0),
        }
    }
}

fn ends<T: Clone>(table: &Table<T>, unversioned: fn(&mut T)) -> BTreeMap<String, T> {
    let mut documents = BTreeMap::clone(table);
    documents.values_mut().for_each(unversioned);
    documents
}

/// See [`World::end`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    subscriptions: BTreeMap<String, Subscription>,
    customers: BTreeMap<String, Customer>,
    checkouts: BTreeMap<String, Checkout>,
    invoices: BTreeMap<String, Invoice>,
    payments: BTreeMap<String, Payment>,
    purchases: BTreeMap<String, Purchase>,
    balances: BTreeMap<String, i64>,
    told: BTreeMap<String, Document>,
    once: BTreeSet<String>,
    waiting: usize,
}
