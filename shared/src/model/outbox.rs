//! An outbox message: one effect for one destination. What asks for it ([`OnceMessage`],
//! [`StateMessage`]) and what the worker claims and sends ([`OutboxMessage`]).

use bson::oid::ObjectId;
use bson::{DateTime, Document};
use serde::Deserialize;

use super::event::LastError;
use super::lease::{Claim, Lease};

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageStatus {
    /// Waits to be sent.
    Pending,
    /// Being sent, under a lease.
    Sending,
    /// The destination took it.
    Sent,
    /// Given up; an operator reads, fixes and requeues it.
    Dead,
}

impl MessageStatus {
    /// Every status, in the order of a life.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Sending, Self::Sent, Self::Dead];

    /// The text in the outbox.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Dead => "dead",
        }
    }
}

/// The ledger event that caused a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CausedBy {
    /// The provider's name.
    pub provider: String,
    /// The deduplication scope.
    pub scope: String,
    /// The provider's id of the event.
    pub event_id: String,
}

/// An effect that happens once for ever: inserted when its key is new, else left alone.
#[derive(Debug, Clone, PartialEq)]
pub struct OnceMessage {
    /// The effect's identity, `{account|self}:{live|test}:…`; the same on every try.
    pub key: String,
    /// What it is about, which decides where it goes.
    pub topic: String,
    /// The sink it goes to.
    pub destination: String,
    /// What is sent.
    pub payload: Document,
    /// The event behind it.
    pub caused_by: CausedBy,
}

/// The newest view of a subject: one row a subject and destination, which a change renews.
#[derive(Debug, Clone, PartialEq)]
pub struct StateMessage {
    /// The row's identity, without the version.
    pub key: String,
    /// What it is about, which decides where it goes.
    pub topic: String,
    /// Whose state it is.
    pub subject: String,
    /// Grows with each change of the subject.
    pub version: i64,
    /// The sink it goes to.
    pub destination: String,
    /// The whole view.
    pub payload: Document,
    /// The event behind the newest version.
    pub caused_by: CausedBy,
}

/// A row of the outbox. Fields that a newer version added are passed over.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxMessage {
    /// The row.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The effect's identity.
    pub key: String,
    /// What it is about.
    pub topic: String,
    /// Whose state it is; only state messages have one.
    pub subject: Option<String>,
    /// The version of the state; only state messages have one.
    pub version: Option<i64>,
    /// The sink it goes to.
    pub destination: String,
    /// What is sent.
    pub payload: Document,
    /// Where it stands.
    pub status: MessageStatus,
    /// How often it was claimed.
    pub epoch: i64,
    /// Tries that failed so far.
    #[serde(default)]
    pub attempts: u32,
    /// How often its worker died while sending it.
    #[serde(default)]
    pub crashes: u32,
    /// The lease it is held under.
    pub lease: Option<Lease>,
    /// When what it carries was written: the row, or the newest version of the state.
    pub created_at: DateTime,
    /// The last thing that went wrong.
    pub last_error: Option<LastError>,
    /// The event behind it.
    pub caused_by: CausedBy,
}

impl OutboxMessage {
    /// The claim under which its holder may finish it; none when it is not leased.
    #[must_use]
    pub fn claim(&self) -> Option<Claim> {
        self.lease.as_ref().map(|lease| Claim {
            id: self.id,
            epoch: self.epoch,
            owner: lease.owner.as_str().into(),
        })
    }

    /// The id a destination deduplicates by: the key, and for state its version too.
    #[must_use]
    pub fn delivery_id(&self) -> String {
        match self.version {
            Some(version) => format!("{}:{version}", self.key),
            None => self.key.clone(),
        }
    }
}
