//! What a rule may know: the documents it asked for, as the transaction sees them.

use std::collections::BTreeMap;

use hookledger_shared::model::book::Book;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

/// A read that a rule needs before it can decide. Ids are the provider's, in the event's book.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// One subscription.
    Subscription(String),
    /// One customer.
    Customer(String),
    /// Every subscription of a customer.
    SubscriptionsOf(String),
    /// One checkout session.
    Checkout(String),
    /// One invoice.
    Invoice(String),
    /// One payment.
    Payment(String),
    /// One purchase.
    Purchase(String),
    /// The credit entries of a purchase.
    EntriesOf(String),
}

/// The answers. What is absent in the database is present here as `None` or empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Subscriptions by id.
    pub subscriptions: BTreeMap<String, Option<Subscription>>,
    /// Customers by id.
    pub customers: BTreeMap<String, Option<Customer>>,
    /// Subscriptions by customer id.
    pub subscriptions_of: BTreeMap<String, Vec<Subscription>>,
    /// Sessions by id.
    pub checkouts: BTreeMap<String, Option<Checkout>>,
    /// Invoices by id.
    pub invoices: BTreeMap<String, Option<Invoice>>,
    /// Payments by id.
    pub payments: BTreeMap<String, Option<Payment>>,
    /// Purchases by id.
    pub purchases: BTreeMap<String, Option<Purchase>>,
    /// Entries by purchase id.
    pub entries_of: BTreeMap<String, Vec<CreditEntry>>,
}

impl Facts {
    /// Whether this was read already.
    #[must_use]
    pub fn answer(&self, need: &Need) -> bool {
        match need {
            Need::Subscription(id) => self.subscriptions.contains_key(id),
            Need::Customer(id) => self.customers.contains_key(id),
            Need::SubscriptionsOf(id) => self.subscriptions_of.contains_key(id),
            Need::Checkout(id) => self.checkouts.contains_key(id),
            Need::Invoice(id) => self.invoices.contains_key(id),
            Need::Payment(id) => self.payments.contains_key(id),
            Need::Purchase(id) => self.purchases.contains_key(id),
            Need::EntriesOf(id) => self.entries_of.contains_key(id),
        }
    }

    /// The subscription, if there is one.
    #[must_use]
    pub fn subscription(&self, id: &str) -> Option<&Subscription> {
        self.subscriptions.get(id)?.as_ref()
    }

    /// The customer, or one of whom nothing is known yet.
    #[must_use]
    pub fn customer(&self, book: &Book, id: &str) -> Customer {
        let known = self.customers.get(id).and_then(Clone::clone);
        known.unwrap_or_else(|| Customer::unknown(book, id))
    }

    /// The customer's subscriptions.
    #[must_use]
    pub fn subscriptions_of(&self, customer: &str) -> &[Subscription] {
        self.subscriptions_of
            .get(customer)
            .map_or(&[], Vec::as_slice)
    }

    /// The session, if it was seen before.
    #[must_use]
    pub fn checkout(&self, id: &str) -> Option<&Checkout> {
        self.checkouts.get(id)?.as_ref()
    }

    /// The invoice, if it was seen before.
    #[must_use]
    pub fn invoice(&self, id: &str) -> Option<&Invoice> {
        self.invoices.get(id)?.as_ref()
    }

    /// The payment, if it was seen before.
    #[must_use]
    pub fn payment(&self, id: &str) -> Option<&Payment> {
        self.payments.get(id)?.as_ref()
    }

    /// The purchase, if it was seen before.
    #[must_use]
    pub fn purchase(&self, id: &str) -> Option<&Purchase> {
        self.purchases.get(id)?.as_ref()
    }

    /// The purchase's entries.
    #[must_use]
    pub fn entries_of(&self, purchase: &str) -> &[CreditEntry] {
        self.entries_of.get(purchase).map_or(&[], Vec::as_slice)
    }
}
