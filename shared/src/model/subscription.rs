//! One subscription at the provider: its register, and the view that follows from it.

use bson::DateTime;
use serde::{Deserialize, Serialize};

use super::book::Book;
use super::register::Register;

/// The part of a subscription that anything here depends on. Times are the provider's
/// seconds. Ordered, so that a choice between two is the same everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubscriptionImage {
    /// The provider's word, known to us or not.
    pub status: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// The product's name of what was bought.
    pub plan: Option<String>,
    /// How many of it.
    pub quantity: Option<i64>,
    /// Start of the period that ends last.
    pub period_start: Option<i64>,
    /// The greatest end of an item's period.
    pub period_end: Option<i64>,
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
    /// Invoices are not collected for the time being; the status doesn't show it.
    pub collection_paused: bool,
}

/// Why the provider will be asked for a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckReason {
    /// The order of its newest events can't be told.
    Provisional,
    /// The newest event began at a state that was never shown: another is missing.
    ChainBreak,
    /// An event says that it lives on after its end.
    Impossible,
    /// An event followed on an answer of the provider's and shows something else: it may be
    /// an old one that came late.
    AfterAnswer,
    /// It gives access, and its customer is no user of the product.
    Unlinked,
    /// Its period is over, and nothing was heard.
    PeriodOver,
    /// A newer version's word.
    #[serde(other)]
    Other,
}

/// When the provider will be asked for a subscription. A hint for the repairer, which
/// depends on the order of arrival: the only part of the document that does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Why.
    pub reason: CheckReason,
    /// When, by the database's clock.
    pub due_at: DateTime,
    /// How often it was asked already for this.
    #[serde(default)]
    pub tries: u32,
    /// Why the last answer was of no use; a person may have to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The document. Its view can always be computed again from its register.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The book's key of `subscription_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`].
    pub account: String,
    /// See [`Book`].
    pub livemode: bool,
    /// The provider's id.
    pub subscription_id: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// The provider's word, known to us or not.
    pub status: String,
    /// Whether this version knows the status; an unknown one gives no access.
    #[serde(default)]
    pub status_unknown: bool,
    /// The product's name of what was bought.
    pub plan: Option<String>,
    /// How many of it.
    pub quantity: Option<i64>,
    /// Start of the period that ends last.
    pub current_period_start: Option<DateTime>,
    /// The greatest end of an item's period.
    pub current_period_end: Option<DateTime>,
    /// Ends with its period.
    pub cancel_at_period_end: bool,
    /// Ends at this time.
    pub cancel_at: Option<DateTime>,
    /// When the end was asked for.
    pub canceled_at: Option<DateTime>,
    /// When it ended.
    pub ended_at: Option<DateTime>,
    /// When the trial ends.
    pub trial_end: Option<DateTime>,
    /// Invoices are not collected for the time being.
    #[serde(default)]
    pub collection_paused: bool,
    /// It is over, for good.
    pub terminal: bool,
    /// Several things happened in its newest second, and their order can't be told.
    pub provisional: bool,
    /// The provider's second of the newest news.
    pub last_event_created: i64,
    /// Some event, however old, showed it active or trialing.
    #[serde(default)]
    pub began: bool,
    /// Some event, however old, showed it canceled after it existed.
    #[serde(default)]
    pub canceled: bool,
    /// What all of this follows from.
    pub register: Register<SubscriptionImage>,
    /// Keys of the one-off effects it has caused, for ever.
    #[serde(default)]
    pub emitted: Vec<String>,
    /// When the provider will be asked for it.
    #[serde(default)]
    pub next_check: Option<Check>,
    /// Grows with every write.
    pub version: i64,
}

impl Subscription {
    /// The book it stands in.
    #[must_use]
    pub fn book(&self) -> Book {
        Book {
            account: self.account.clone(),
            livemode: self.livemode,
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, doc};

    use super::{Check, CheckReason};

    #[test]
    fn a_newer_versions_reason_is_read_all_the_same() {
        let at = DateTime::from_millis(0);
        let read = |reason: &str| {
            let check = doc! { "reason": reason, "dueAt": at, "newer": 1 };
            bson::deserialize_from_document::<Check>(check)
                .unwrap()
                .reason
        };
        assert_eq!(read("chainBreak"), CheckReason::ChainBreak);
        assert_eq!(read("moonPhase"), CheckReason::Other);
    }
}
