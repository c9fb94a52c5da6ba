//! What a rule can decide about an event, as plain data. `event::apply` writes it.

use bson::Document;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

/// What becomes of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It said something new: write this.
    Apply(Changes),
    /// Newer news of its object was known already. What it says beside that (a link, that a
    /// subscription once began) still counts, so there may be changes all the same.
    Stale(Changes),
    /// It can't be judged before something else has arrived; nothing is written.
    Defer {
        /// What it waits for, as [`Changes::arrived`] names it.
        waits_for: String,
    },
    /// It can't be accepted: a dead letter, for a person.
    Reject(Rejection),
}

/// Why an event becomes a dead letter.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// The kind that operators filter on.
    pub kind: RejectKind,
    /// A sentence without personal data.
    pub message: String,
    /// Facts that are true all the same, written together with the dead letter.
    pub record: Option<Box<Changes>>,
}

/// The kinds of rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectKind {
    /// The body is not what its type promises.
    Unreadable,
    /// The catalogue has no such pack; retried once it has.
    UnknownSku,
    /// Credits were bought by nobody we know.
    UnlinkedPurchase,
    /// What was paid is not what the catalogue asks, or differs from what was seen before.
    AmountMismatch,
}

impl RejectKind {
    /// The text in the ledger and in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::UnknownSku => "unknown_sku",
            Self::UnlinkedPurchase => "unlinked_purchase",
            Self::AmountMismatch => "amount_mismatch",
        }
    }
}

/// What is written in the event's transaction. Documents stand here as they shall be; the
/// store writes our fields of them and lets `version` grow by one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Subscriptions as they shall be.
    pub subscriptions: Vec<Subscription>,
    /// Customers as they shall be.
    pub customers: Vec<Customer>,
    /// Checkouts as they shall be.
    pub checkouts: Vec<Checkout>,
    /// Invoices as they shall be.
    pub invoices: Vec<Invoice>,
    /// Payments as they shall be.
    pub payments: Vec<Payment>,
    /// Purchases as they shall be.
    pub purchases: Vec<Purchase>,
    /// Entries to append; each moves its user's balance.
    pub entries: Vec<CreditEntry>,
    /// What goes out.
    pub effects: Vec<Effect>,
    /// What other events may have waited for ([`Decision::Defer`]) and is there with this.
    pub arrived: Vec<String>,
}

impl Changes {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A message for the outbox, before it is known where it goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The newest view of a subject; replaces an older one that has not gone out.
    State {
        /// The row's identity, without the version.
        key: String,
        /// What it is about.
        topic: Topic,
        /// Whose state it is.
        subject: String,
        /// Grows with each change; a consumer keeps the greatest.
        version: i64,
        /// The whole view.
        payload: Document,
    },
    /// Happens once for ever.
    Once {
        /// Its identity.
        key: String,
        /// What it is about.
        topic: Topic,
        /// What is sent.
        payload: Document,
    },
}

/// What the handlers send, as routes name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// What a customer may use.
    EntitlementChanged,
    /// A receipt to be mailed.
    EmailReceipt,
    /// A subscription has begun.
    Welcome,
    /// An invoice could not be paid.
    PaymentFailed,
    /// A subscription is over.
    SubscriptionCanceled,
    /// Credits were granted.
    CreditsGranted,
    /// A refund or a dispute took credits back, or its failure gave them again.
    CreditsReversed,
    /// A purchase needs a person.
    PurchaseConflict,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 8] = [
        Self::EntitlementChanged,
        Self::EmailReceipt,
        Self::Welcome,
        Self::PaymentFailed,
        Self::SubscriptionCanceled,
        Self::CreditsGranted,
        Self::CreditsReversed,
        Self::PurchaseConflict,
    ];

    /// The name in routes and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EntitlementChanged => "entitlement.changed",
            Self::EmailReceipt => "email.receipt",
            Self::Welcome => "welcome",
            Self::PaymentFailed => "payment.failed",
            Self::SubscriptionCanceled => "subscription.canceled",
            Self::CreditsGranted => "credits.granted",
            Self::CreditsReversed => "credits.reversed",
            Self::PurchaseConflict => "purchase.conflict",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Topic;

    #[test]
    fn every_topic_can_be_routed_and_every_route_has_a_topic() {
        for topic in Topic::ALL {
            assert!(hookledger_shared::config::TOPICS.contains(&topic.as_str()));
        }
        assert_eq!(Topic::ALL.len(), hookledger_shared::config::TOPICS.len());
    }
}
