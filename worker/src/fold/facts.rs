//! Answers what a rule needs from what the fold holds.

use hookledger_shared::model::book::Book;

use super::Fold;
use crate::handler::{Facts, Input, Need};

impl Fold {
    /// Every fact that the rule needs.
    #[must_use]
    pub fn load(&self, input: &Input) -> Facts {
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
                let found = self.subscriptions.of(&book.key(&id)).cloned().collect();
                facts.subscriptions_of.insert(id, found);
            }
            Need::Checkout(id) => {
                let found = self.checkouts.get(&book.key(&id)).cloned();
                facts.checkouts.insert(id, found);
            }
            Need::Invoice(id) => {
                let found = self.invoices.get(&book.key(&id)).cloned();
                facts.invoices.insert(id, found);
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
                let found = self.entries.of(&book.key(&id)).cloned().collect();
                facts.entries_of.insert(id, found);
            }
        }
    }
}
