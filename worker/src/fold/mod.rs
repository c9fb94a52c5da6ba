//! A fold over decisions: what a set of events comes to, without a database. It holds the
//! documents by key, answers what rules need, takes in what they decide, and keeps inputs
//! that wait for others. Pure; the rebuild and the rules' own tests stand on it.

mod facts;
mod table;

use std::collections::BTreeMap;

use bson::DateTime;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

pub use table::{Keyed, Table};

use crate::handler::{Changes, Decision, Input, Rules};

/// Everything there is, by key.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    /// Subscriptions, by customer too.
    pub subscriptions: Table<Subscription>,
    /// Customers.
    pub customers: Table<Customer>,
    /// Checkout sessions.
    pub checkouts: Table<Checkout>,
    /// Invoices.
    pub invoices: Table<Invoice>,
    /// Payments.
    pub payments: Table<Payment>,
    /// Purchases.
    pub purchases: Table<Purchase>,
    /// Credit entries, by purchase too.
    pub entries: Table<CreditEntry>,
    waiting: BTreeMap<String, Vec<Input>>,
}

impl Fold {
    /// Takes one event through its rule, and those that waited for what came with it. `seen`
    /// looks at each decision before it is taken in.
    pub fn take(
        &mut self,
        input: Input,
        rules: &Rules,
        now: DateTime,
        mut seen: impl FnMut(&Self, &Input, &Decision),
    ) {
        let mut next = vec![input];
        while let Some(input) = next.pop() {
            let decision = input.decide(&self.load(&input), rules, now);
            seen(self, &input, &decision);
            let changes = match decision {
                Decision::Apply(changes) | Decision::Stale(changes) => changes,
                Decision::Defer { waits_for } => {
                    self.waiting.entry(waits_for).or_default().push(input);
                    continue;
                }
                Decision::Reject(rejection) => {
                    rejection.record.map(|record| *record).unwrap_or_default()
                }
            };
            for arrived in changes.arrived.iter().rev() {
                let waited = self.waiting.remove(arrived).unwrap_or_default();
                next.extend(waited.into_iter().rev());
            }
            self.apply(changes);
        }
    }

    /// Takes in what a rule decided, as the store would. Effects go nowhere.
    pub fn apply(&mut self, changes: Changes) {
        let Changes {
            subscriptions,
            customers,
            checkouts,
            invoices,
            payments,
            purchases,
            entries,
            effects: _,
            arrived: _,
        } = changes;
        self.subscriptions.extend(subscriptions);
        self.customers.extend(customers);
        self.checkouts.extend(checkouts);
        self.invoices.extend(invoices);
        self.payments.extend(payments);
        self.purchases.extend(purchases);
        self.entries.extend(entries);
    }

    /// The inputs that wait for something which has not come.
    pub fn waiting(&self) -> impl Iterator<Item = &Input> {
        self.waiting.values().flatten()
    }
}
