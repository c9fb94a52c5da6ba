//! What is so at the end of a life.

use std::collections::{BTreeMap, BTreeSet};

use hookledger_shared::model::book::Book;

/// What is so of one customer in one book.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Whose books.
    pub book: Book,
    /// Stripe's customer.
    pub customer: String,
    /// The product's user, by whatever named it.
    pub user: String,
    /// The customer was deleted.
    pub deleted: bool,
    /// Every subscription it ever had, by Stripe's id.
    pub subscriptions: BTreeMap<String, SubscriptionTruth>,
    /// The user's credits.
    pub balance: i64,
    /// Every purchase, paid or not, by its id.
    pub purchases: BTreeSet<String>,
    /// Those that were paid more than once.
    pub paid_twice: BTreeSet<String>,
    /// Every refund and dispute, by its id.
    pub reversals: BTreeSet<String>,
    /// What the user must have been told once, by the message's key without its book: of
    /// the kinds in [`TOLD`] no other.
    pub told: BTreeSet<String>,
}

/// The kinds of one-off messages that a truth knows all of, by how their keys begin.
pub const TOLD: [&str; 4] = ["welcome:", "canceled:", "credits:", "reversed:"];

/// What is so of one subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionTruth {
    /// Stripe's word.
    pub status: String,
    /// The product's name of what was bought.
    pub plan: String,
    /// How many of it.
    pub quantity: i64,
    /// Start and end, in unix seconds.
    pub period: (i64, i64),
    /// Ends with its period.
    pub cancel_at_period_end: bool,
    /// Ends at this time.
    pub cancel_at: Option<i64>,
    /// When the end was asked for.
    pub canceled_at: Option<i64>,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// When the trial ends.
    pub trial_end: Option<i64>,
    /// Invoices are not collected for the time being.
    pub collection_paused: bool,
}

impl SubscriptionTruth {
    /// Whether the user may use what it paid for, or is tried to be made pay for.
    #[must_use]
    pub fn gives_access(&self) -> bool {
        ["active", "trialing", "past_due"].contains(&self.status.as_str())
    }
}

impl Truth {
    /// A customer of whom nothing has been told yet.
    pub(super) fn new(book: Book, customer: &str, user: &str) -> Self {
        Self {
            book,
            customer: customer.to_owned(),
            user: user.to_owned(),
            deleted: false,
            subscriptions: BTreeMap::new(),
            balance: 0,
            purchases: BTreeSet::new(),
            paid_twice: BTreeSet::new(),
            reversals: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// The subscriptions that give access; none when the customer is gone.
    pub fn giving_access(&self) -> impl Iterator<Item = (&String, &SubscriptionTruth)> {
        let all = self.subscriptions.iter();
        all.filter(|(_, subscription)| !self.deleted && subscription.gives_access())
    }
}
