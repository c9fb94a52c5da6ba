//! One invoice: what was to be paid and whether it was. A fact, never a verdict on a
//! subscription.

use bson::DateTime;
use serde::{Deserialize, Serialize};

use super::register::Register;

/// The part of an invoice that anything here depends on. Amounts are in minor units.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InvoiceImage {
    /// The provider's word: `draft`, `open`, `paid`, `uncollectible`, `void`, or a newer one.
    pub status: Option<String>,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// The subscription it is for.
    pub subscription_id: Option<String>,
    /// Why it was made.
    pub billing_reason: Option<String>,
    /// Lower-case.
    pub currency: Option<String>,
    /// What is to be paid.
    pub amount_due: Option<i64>,
    /// What was paid.
    pub amount_paid: Option<i64>,
    /// What is still to be paid.
    pub amount_remaining: Option<i64>,
    /// How often its payment was tried.
    pub attempt_count: Option<i64>,
    /// When it is tried next, in the provider's seconds.
    pub next_attempt: Option<i64>,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// The book's key of `invoice_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// The provider's id.
    pub invoice_id: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// What the newest news says.
    pub current: InvoiceImage,
    /// When it is tried next.
    pub next_attempt_at: Option<DateTime>,
    /// Some event, however old, showed it paid.
    #[serde(default)]
    pub paid: bool,
    /// It is paid or void, for good.
    pub terminal: bool,
    /// Several things happened in its newest second, and their order can't be told.
    pub provisional: bool,
    /// The provider's second of the newest news.
    pub last_event_created: i64,
    /// What all of this follows from.
    pub register: Register<InvoiceImage>,
    /// Keys of the one-off effects it has caused, for ever.
    #[serde(default)]
    pub emitted: Vec<String>,
    /// Grows with every write.
    pub version: i64,
}
