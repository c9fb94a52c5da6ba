//! One customer at the provider: which user of the product it is, and what that user is
//! entitled to by its subscriptions.

use bson::{DateTime, Document};
use serde::{Deserialize, Serialize};

use super::book::Book;
use super::register::Register;

/// Where a link was read. The order is the order of trust, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// The customer's own metadata.
    Customer,
    /// A subscription's metadata.
    Subscription,
    /// A checkout that the user went through.
    Checkout,
}

/// A statement that a customer is a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The product's own id of the user.
    pub user_id: String,
    /// Where it was read.
    pub via: Via,
    /// The provider's second of the newest event that said so.
    pub created: i64,
    /// That event.
    pub event_id: String,
}

/// What a customer may use, over all its subscriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Entitlement {
    /// Whether it may use the product.
    pub entitled: bool,
    /// The status of the subscription that is shown.
    pub status: Option<String>,
    /// Its plan.
    pub plan: Option<String>,
    /// How many of it.
    pub quantity: Option<i64>,
    /// Until when it is paid or on trial.
    pub until: Option<DateTime>,
    /// When it ends, if that is decided.
    pub ends_at: Option<DateTime>,
    /// When a subscription schedule changes it next.
    pub changes_at: Option<DateTime>,
    /// The subscription that is shown.
    pub subscription_id: Option<String>,
    /// The order of some changes can't be told, so this may not be the last word.
    pub provisional: bool,
}

/// The part of a subscription schedule that anything here depends on. Times are the
/// provider's seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScheduleImage {
    /// The provider's word, known to us or not.
    pub status: Option<String>,
    /// The subscription it changes.
    pub subscription_id: Option<String>,
    /// The subscription ends with the last phase.
    pub cancels: bool,
    /// When the current phase ends.
    pub phase_ends: Option<i64>,
    /// When the last phase ends.
    pub last_phase_ends: Option<i64>,
}

/// A plan of changes to one subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The provider's id.
    pub schedule_id: String,
    /// What the newest news says.
    pub current: ScheduleImage,
    /// Several things happened in its newest second, and their order can't be told.
    pub provisional: bool,
    /// What both follow from.
    pub register: Register<ScheduleImage>,
}

/// A one-off message that waits until the customer's user is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owed {
    /// Its key in the outbox.
    pub key: String,
    /// Its topic. Text, because a newer version may know more.
    pub topic: String,
    /// What is sent, but for the user.
    pub payload: Document,
}

/// The document. Every transaction that touches one of a customer's objects writes it, so
/// that two of them conflict instead of missing each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    /// The book's key of `customer_id`.
    #[serde(rename = "_id")]
    pub id: String,
    /// See [`Book`].
    pub account: String,
    /// See [`Book`].
    pub livemode: bool,
    /// The provider's id.
    pub customer_id: String,
    /// At most one a user and place, the newest.
    #[serde(default)]
    pub links: Vec<Link>,
    /// The user that is shown.
    pub user_id: Option<String>,
    /// The links name more than one user.
    #[serde(default)]
    pub link_conflict: bool,
    /// Deleted at the provider, for good, and its subscriptions with it.
    #[serde(default)]
    pub deleted: bool,
    /// Its subscription schedules, ordered by id.
    #[serde(default)]
    pub schedules: Vec<Schedule>,
    /// The view over its subscriptions.
    #[serde(default)]
    pub entitlement: Entitlement,
    /// One-off messages about its invoices that wait until the user is known, by key.
    #[serde(default)]
    pub owed: Vec<Owed>,
    /// Grows with every write of the customer or of one of its objects.
    pub version: i64,
}

impl Customer {
    /// A customer of whom nothing is known yet.
    #[must_use]
    pub fn unknown(book: &Book, customer_id: &str) -> Self {
        Self {
            id: book.key(customer_id),
            account: book.account.clone(),
            livemode: book.livemode,
            customer_id: customer_id.to_owned(),
            links: Vec::new(),
            user_id: None,
            link_conflict: false,
            deleted: false,
            schedules: Vec::new(),
            owed: Vec::new(),
            entitlement: Entitlement::default(),
            version: 0,
        }
    }
}
