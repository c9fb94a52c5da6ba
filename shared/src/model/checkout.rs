//! One Checkout Session: a link between a user and a customer, and evidence of a payment.
//! Never a verdict on a subscription.

use serde::{Deserialize, Serialize};

use super::register::Register;

/// The part of a session that anything here depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckoutImage {
    /// `payment`, `subscription` or `setup`.
    pub mode: Option<String>,
    /// `paid`, `unpaid` or `no_payment_required`.
    pub payment_status: Option<String>,
    /// A delayed payment came to nothing.
    pub failed: bool,
    /// Whose it is at the provider; a guest has none.
    pub customer_id: Option<String>,
    /// The subscription it made.
    pub subscription_id: Option<String>,
    /// The payment it made.
    pub payment_intent_id: Option<String>,
    /// The product's own id of the user.
    pub user_id: Option<String>,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    /// The book's key of `session_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// The provider's id.
    pub session_id: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// The newest news of it; that it was paid is final.
    pub current: CheckoutImage,
    /// What that follows from; `terminal` stands for paid.
    pub register: Register<CheckoutImage>,
    /// Grows with every write.
    pub version: i64,
}
