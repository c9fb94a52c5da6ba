//! One payment at the provider: a payment intent, or the session where there is none.
//! Sessions, charges, refunds and disputes about it all write it, so that a refund and its
//! grant share a document and can't miss each other.

use serde::{Deserialize, Serialize};

/// A purchase that says this payment was made for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentClaim {
    /// The purchase.
    pub purchase_id: String,
    /// The provider's second of the oldest event that said so.
    pub created: i64,
    /// That event.
    pub event_id: String,
}

/// Evidence that money was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capture {
    /// The object that says so.
    pub source: String,
    /// What was paid, in minor units, after discounts and with taxes.
    pub amount: i64,
    /// In which currency, lower-case.
    pub currency: String,
    /// The provider's second of the oldest event that said so.
    pub created: i64,
    /// That event.
    pub event_id: String,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The book's key of `payment_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// The payment intent's id, or the session's.
    pub payment_id: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// At most one a purchase, the oldest; the oldest of all owns the payment.
    #[serde(default)]
    pub claims: Vec<PaymentClaim>,
    /// At most one a source, amount and currency, the oldest.
    #[serde(default)]
    pub captures: Vec<Capture>,
    /// Grows with every write.
    pub version: i64,
}

impl Payment {
    /// The purchase this payment belongs to: a payment has only one.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        let oldest = self
            .claims
            .iter()
            .min_by_key(|claim| (claim.created, &claim.event_id, &claim.purchase_id));
        oldest.map(|claim| claim.purchase_id.as_str())
    }
}
