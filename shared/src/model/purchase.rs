//! One purchase of credits, by the product's own id of it: every version of it that was
//! seen, the payments made for it, and what follows.

use serde::{Deserialize, Serialize};

/// Where a purchase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PurchaseState {
    /// Not paid yet.
    Pending,
    /// Paid as it should be.
    Granted,
    /// What was seen of it does not fit together; a person decides.
    Conflict,
}

/// One set of business fields under which the purchase was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurchaseVersion {
    /// Who bought.
    pub user_id: String,
    /// Which pack.
    pub sku: String,
    /// How many packs; none when what was written is no count.
    pub quantity: Option<i64>,
    /// In minor units: before tax and discount, unless `total`.
    pub amount: Option<i64>,
    /// Lower-case.
    pub currency: Option<String>,
    /// A payment tells it, which knows only what was paid after tax and discount. It stands
    /// back where a checkout tells of the same purchase.
    #[serde(default)]
    pub total: bool,
    /// What it grants by the catalogue at the time it was read; none when it does not fit.
    pub credits: Option<i64>,
    /// The payments that paid it, sorted.
    #[serde(default)]
    pub payments: Vec<String>,
    /// The payments that it was to be paid by, sorted, whether it said that they were or not.
    #[serde(default)]
    pub asks: Vec<String>,
    /// The provider's second of the oldest event that told it.
    pub created: i64,
    /// That event.
    pub event_id: String,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Purchase {
    /// The book's key of `purchase_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`](super::book::Book).
    pub account: String,
    /// See [`Book`](super::book::Book).
    pub livemode: bool,
    /// The product's id of it, or the payment's where the product gave none.
    pub purchase_id: String,
    /// Where it stands.
    pub state: PurchaseState,
    /// Whom it granted to.
    pub user_id: Option<String>,
    /// The pack it granted.
    pub sku: Option<String>,
    /// How many credits it granted.
    #[serde(default)]
    pub granted: i64,
    /// How many of them refunds and disputes have taken back.
    #[serde(default)]
    pub reversed: i64,
    /// A dispute about it is open: what is left of it should not be spent.
    #[serde(default)]
    pub held: bool,
    /// What a person should look at, sorted. Text, because a newer version may know more.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Every version seen.
    #[serde(default)]
    pub versions: Vec<PurchaseVersion>,
    /// Every payment that paid it, sorted.
    #[serde(default)]
    pub payments: Vec<String>,
    /// Keys of the one-off effects it has caused, for ever.
    #[serde(default)]
    pub emitted: Vec<String>,
    /// Grows with every write.
    pub version: i64,
}
