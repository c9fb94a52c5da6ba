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
