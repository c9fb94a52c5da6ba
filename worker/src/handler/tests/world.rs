//! A fold over decisions: applies [`Changes`] to maps and answers [`Need`]s from them. Rules
//! only; what the store does is promised by the tests on a real replica set.

use std::collections::{BTreeMap, BTreeSet};

use bson::{DateTime, Document};
use hookledger_shared::config::Pack;
use hookledger_shared::model::book::Book;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

use super::super::{Changes, Decision, Effect, Facts, Family, Input, Need, RejectKind, Rules};
use super::story::Event;

/// Everything there is, by key.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) subscriptions: BTreeMap<String, Subscription>,
    pub(crate) customers: BTreeMap<String, Customer>,
    pub(crate) checkouts: BTreeMap<String, Checkout>,
    pub(crate) payments: BTreeMap<String, Payment>,
    pub(crate) purchases: BTreeMap<String, Purchase>,
    pub(crate) entries: BTreeMap<String, CreditEntry>,
    /// The newest message of each subject.
    pub(crate) states: BTreeMap<String, (i64, Document)>,
    /// Every one-off message, in the order of sending.
    pub(crate) once: Vec<String>,
    pub(crate) rejected: BTreeMap<String, RejectKind>,
    waiting: BTreeMap<String, Vec<(String, Input)>>,
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
                self.deliver(&event.id, &event.read(&rules), &rules);
            }
        }
    }

    /// Takes one event through its rule, and those that waited for what came with it.
    pub(crate) fn deliver(&mut self, id: &str, input: &Input, rules: &Rules) {
        let facts = self.load(input);
        let now = DateTime::from_millis(1_000_000);
        let changes = match input.decide(&facts, rules, now) {
            Decision::Apply(changes) | Decision::Stale(changes) => changes,
            Decision::Defer { waits_for } => {
                let waiting = self.waiting.entry(waits_for).or_default();
                return waiting.push((id.to_owned(), input.clone()));
            }
            Decision::Reject(rejection) => {
                self.rejected.insert(id.to_owned(), rejection.kind);
                rejection.record.map(|record| *record).unwrap_or_default()
            }
        };
        let arrived = changes.arrived.clone();
        self.apply(changes);
        for waits_for in arrived {
            for (id, input) in self.waiting.remove(&waits_for).unwrap_or_default() {
                self.deliver(&id, &input, rules);
            }
        }
    }

    fn load(&self, input: &Input) -> Facts {
        let mut facts = Facts::default();
        loop {
            let mut needs = input.needs(&facts);
            needs.retain(|need| !facts.answer(need));
            if needs.is_empty() {
                return facts;
            }
            for need in needs {
                self.answer(&input.event.book, need, &mut facts);
            }
        }
    }

    fn answer(&self, book: &Book, need: Need, facts: &mut Facts) {
        let mine = |account: &str, livemode| account == book.account && livemode == book.livemode;
        match need {
            Need::Subscription(id) => {
                let found = self.subscriptions.get(&book.key(&id)).cloned();
                facts.subscriptions.insert(id, found);
            }
            Need::Customer(id) => {
                let found = self.customers.get(&book.key(&id)).cloned();
                facts.customers.insert(id, found);
            }
            Need::SubscriptionsOf(id) => {
                let all = self.subscriptions.values().filter(|subscription| {
                    mine(&subscription.account, subscription.livemode)
                        && subscription.customer_id.as_deref() == Some(&id)
                });
                let found = all.cloned().collect();
                facts.subscriptions_of.insert(id, found);
            }
            Need::Checkout(id) => {
                let found = self.checkouts.get(&book.key(&id)).cloned();
                facts.checkouts.insert(id, found);
            }
            Need::Payment(id) => {
                let found = self.payments.get(&book.key(&id)).cloned();
                facts.payments.insert(id, found);
            }
            Need::Purchase(id) => {
                let found = self.purchases.get(&book.key(&id)).cloned();
                facts.purchases.insert(id, found);
            }
            Need::EntriesOf(id) => {
                let all = self.entries.values();
                let found = all
                    .filter(|entry| mine(&entry.account, entry.livemode) && entry.purchase_id == id)
                    .cloned()
                    .collect();
                facts.entries_of.insert(id, found);
            }
        }
    }

    /// Writes as the store does, and checks what the store would refuse.
    fn apply(&mut self, changes: Changes) {
        macro_rules! save {
            ($documents:ident) => {
                for document in changes.$documents {
                    let old = self.$documents.get(&document.id);
                    assert_eq!(document.version, old.map_or(0, |old| old.version) + 1);
                    self.$documents.insert(document.id.clone(), document);
                }
            };
        }
        save!(subscriptions);
        save!(customers);
        save!(checkouts);
        save!(payments);
        save!(purchases);
        for entry in changes.entries {
            assert_ne!(entry.credits, 0);
            let doubled = self.entries.insert(entry.key.clone(), entry);
            assert!(doubled.is_none(), "an entry was written twice: {doubled:?}");
        }
        for effect in changes.effects {
            match effect {
                Effect::Once { key, .. } => {
                    assert!(!self.once.contains(&key), "{key} was sent twice");
                    self.once.push(key);
                }
                Effect::State {
                    key,
                    version,
                    payload,
                    ..
                } => {
                    let old = self.states.insert(key, (version, payload));
                    assert!(old.is_none_or(|(old, _)| old < version));
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
        let mut end = self.clone();
        for subscription in end.subscriptions.values_mut() {
            subscription.version = 0;
            // A hint that depends on order, as it may.
            subscription.next_check = None;
        }
        end.customers.values_mut().for_each(|d| d.version = 0);
        end.checkouts.values_mut().for_each(|d| d.version = 0);
        end.payments.values_mut().for_each(|d| d.version = 0);
        end.purchases.values_mut().for_each(|d| d.version = 0);
        let told = end.states.into_iter().map(|(key, (_, mut payload))| {
            payload.remove("version");
            (key, payload)
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
            waiting: self.waiting.values().map(Vec::len).sum(),
            subscriptions: end.subscriptions,
            customers: end.customers,
            checkouts: end.checkouts,
            payments: end.payments,
            purchases: end.purchases,
        }
    }
}

/// See [`World::end`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    subscriptions: BTreeMap<String, Subscription>,
    customers: BTreeMap<String, Customer>,
    checkouts: BTreeMap<String, Checkout>,
    payments: BTreeMap<String, Payment>,
    purchases: BTreeMap<String, Purchase>,
    balances: BTreeMap<String, i64>,
    told: BTreeMap<String, Document>,
    once: BTreeSet<String>,
    waiting: usize,
}
