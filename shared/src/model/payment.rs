//! One payment at the provider: a payment intent, or a charge or a session without one.
//! Sessions, charges, refunds and disputes about it all write it, so that a refund and its
//! grant share a document and can't miss each other.

use serde::{Deserialize, Serialize};

use super::register::Register;

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

/// How near to the money a source of evidence is, the farthest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// What a checkout session was to be paid with.
    #[default]
    Session,
    /// What a payment intent received.
    Intent,
    /// What a charge captured.
    Charge,
}

/// Evidence that money was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capture {
    /// The object that says so.
    pub source: String,
    /// What kind of object that is.
    #[serde(default)]
    pub evidence: Evidence,
    /// What was paid, in minor units, after discounts and with taxes.
    pub amount: i64,
    /// In which currency, lower-case.
    pub currency: String,
    /// The provider's second of the oldest event that said so.
    pub created: i64,
    /// That event.
    pub event_id: String,
}

/// The part of a refund or a dispute that anything here depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReversalImage {
    /// In minor units.
    pub amount: i64,
    /// Lower-case.
    pub currency: Option<String>,
    /// The provider's word, known to us or not.
    pub status: Option<String>,
}

/// One refund of the payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    /// The provider's id.
    pub refund_id: String,
    /// What the newest news says.
    pub current: ReversalImage,
    /// It failed or was canceled, for good: the money came back.
    pub failed: bool,
    /// Some event, however old, showed it under way or done.
    pub began: bool,
    /// What the first two follow from.
    pub register: Register<ReversalImage>,
}

/// One dispute about the payment. What moves credits is what happened to the money, never
/// the words of its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispute {
    /// The provider's id.
    pub dispute_id: String,
    /// What the newest news says.
    pub current: ReversalImage,
    /// Some event showed it as more than an inquiry.
    pub formal: bool,
    /// It was closed, for good.
    pub closed: bool,
    /// The provider's newest second in which money was withdrawn.
    pub withdrawn: Option<i64>,
    /// The provider's newest second in which money was reinstated.
    pub reinstated: Option<i64>,
    /// What the first follows from.
    pub register: Register<ReversalImage>,
}

impl Dispute {
    /// Whether the money is gone: withdrawn, and not given back since.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn > self.reinstated
    }

    /// Whether what was bought should not be used while it lasts.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.formal && !self.closed
    }
}

/// A charge's running total of refunds: a cross-check, and all there is where the provider
/// renders events as it did before every refund had events of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundTotal {
    /// The charge.
    pub charge_id: String,
    /// In minor units.
    pub amount: i64,
    /// Told by an event of a version in which refunds have no events of their own.
    pub alone: bool,
    /// The provider's second of the event that told it.
    #[serde(default)]
    pub created: i64,
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
    /// The payment intent's id, else the charge's, else the session's.
    pub payment_id: String,
    /// Whose it is at the provider.
    pub customer_id: Option<String>,
    /// At most one a purchase, the oldest; the oldest of all owns the payment.
    #[serde(default)]
    pub claims: Vec<PaymentClaim>,
    /// At most one a source, amount and currency, the oldest.
    #[serde(default)]
    pub captures: Vec<Capture>,
    /// Its refunds, ordered by id.
    #[serde(default)]
    pub refunds: Vec<Refund>,
    /// The disputes about it, ordered by id.
    #[serde(default)]
    pub disputes: Vec<Dispute>,
    /// Every running total seen, in order.
    #[serde(default)]
    pub refund_totals: Vec<RefundTotal>,
    /// What a person should look at, sorted. Text, because a newer version may know more.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Grows with every write.
    pub version: i64,
}

impl Payment {
    /// What was paid, by the evidence nearest to the money.
    #[must_use]
    pub fn captured(&self) -> Option<(i64, &str)> {
        let nearest = self
            .captures
            .iter()
            .max_by_key(|capture| (capture.evidence, capture.amount, &capture.currency))?;
        Some((nearest.amount, &nearest.currency))
    }

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
