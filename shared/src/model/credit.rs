//! Credits: append-only entries, and a user's account, which is their sum.

use bson::DateTime;
use serde::{Deserialize, Serialize};

/// One change of a balance. Never changed and never deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditEntry {
    /// What makes it happen only once: `self:test:grant:{purchase}:pack`.
    #[serde(rename = "_id")]
    pub key: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// Whose balance.
    pub user_id: String,
    /// The purchase behind it.
    pub purchase_id: String,
    /// Why: `grant`, `refund`, `refund_failed`, `dispute`, `dispute_reinstated`, `correction`. Text, because a newer version may know more.
    pub kind: String,
    /// How many; negative takes away.
    pub credits: i64,
    /// The event behind it.
    pub event_id: String,
    /// When it was written.
    pub at: DateTime,
}

/// A user's balance: the sum of the entries. It may be below zero; what is refused then is
/// spending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditAccount {
    /// The book's key of `user_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// The product's own id of the user.
    pub user_id: String,
    /// The sum of the entries.
    pub balance: i64,
    /// Grows with every write.
    pub version: i64,
}
