//! A ledger event: what ingest writes ([`NewEvent`]) and what the worker claims
//! ([`LedgerEvent`]). The body is exactly the bytes that were signed, never the payload as
//! BSON: user-chosen keys, big integers and depth would change meaning or fail.

use bson::oid::ObjectId;
use bson::raw::{RawDocumentBuf, cstr};
use bson::spec::BinarySubtype;
use bson::{Binary, DateTime, rawdoc};
use bytes::Bytes;
use serde::Deserialize;

use super::lease::{Claim, Lease};
use super::observation;

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Waits to be claimed.
    Received,
    /// Claimed, under a lease.
    Processing,
    /// Ended, with an outcome.
    Processed,
    /// Given up; an operator reads, fixes and requeues it.
    Dead,
}

impl Status {
    /// Every status, in the order of a life.
    pub const ALL: [Self; 4] = [
        Self::Received,
        Self::Processing,
        Self::Processed,
        Self::Dead,
    ];

    /// The text in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Processing => "processing",
            Self::Processed => "processed",
            Self::Dead => "dead",
        }
    }
}

/// How a processed event ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It changed something.
    Applied,
    /// A newer event had already said more about its object.
    Stale,
    /// Nobody handles its type.
    Ignored,
    /// It went out to an app by a `[[forward]]`.
    Forwarded,
    /// An operator gave it up, with a reason.
    Discarded,
}

impl Outcome {
    /// The text in the ledger and in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Stale => "stale",
            Self::Ignored => "ignored",
            Self::Forwarded => "forwarded",
            Self::Discarded => "discarded",
        }
    }
}

/// What ingest found wrong with an authentic delivery. It is stored all the same, and the
/// worker buries it where an operator can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The event's `livemode` is not the source's.
    WrongLivemode,
    /// No id that is a non-empty string of at most 255 bytes; keyed by the body's digest.
    NoUsableId,
    /// The body is not what the provider's envelope looks like; keyed by the body's digest.
    Unreadable,
}

impl Problem {
    /// The text in the ledger, and the dead letter's kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WrongLivemode => "wrong_livemode",
            Self::NoUsableId => "no_usable_id",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A verified delivery on its way into the ledger.
#[derive(Clone)]
pub struct NewEvent {
    /// The provider's id of the event, or `sha256:` and the body's digest.
    pub event_id: String,
    /// The provider's name in the configuration.
    pub provider: &'static str,
    /// Sources of one provider account share a scope and deduplicate each other.
    pub scope: String,
    /// The configured source that received it.
    pub source: String,
    /// Which of the source's secrets matched; never the secret itself.
    pub secret_id: String,
    /// The provider's type, `customer.subscription.updated`.
    pub event_type: Option<String>,
    /// The provider's time, whole seconds since 1970.
    pub created: Option<i64>,
    /// Whether the event is about real money.
    pub livemode: Option<bool>,
    /// The connected account it is about, where the provider has such.
    pub account: Option<String>,
    /// The version the payload was rendered in.
    pub api_version: Option<String>,
    /// The object it is about.
    pub object_id: Option<String>,
    /// The customer that object belongs to.
    pub customer_id: Option<String>,
    /// The delivery's content type, as sent.
    pub content_type: Option<String>,
    /// The bytes that were signed.
    pub body: Bytes,
    /// What is wrong with it, if anything.
    pub problem: Option<Problem>,
    /// When it came, by ingest's clock corrected to the server's.
    pub received_at: DateTime,
}

impl std::fmt::Debug for NewEvent {
    /// Without its body, which holds personal data and is never logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewEvent")
            .field("event_id", &self.event_id)
            .field("source", &self.source)
            .field("event_type", &self.event_type)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl NewEvent {
    /// The row as it is inserted: `received`, due at once, never claimed.
    #[must_use]
    pub fn row(&self) -> RawDocumentBuf {
        let mut row = rawdoc! {
            "_id": ObjectId::new(),
            "eventId": self.event_id.as_str(),
            "provider": self.provider,
            "scope": self.scope.as_str(),
            "source": self.source.as_str(),
            "secretId": self.secret_id.as_str(),
            "status": Status::Received.as_str(),
            "epoch": 0_i64,
            "attempts": 0_i32,
            "crashes": 0_i32,
            "deferrals": 0_i32,
            "receivedAt": self.received_at,
            "dueAt": self.received_at,
        };
        let texts = [
            (cstr!("type"), &self.event_type),
            (cstr!("account"), &self.account),
            (cstr!("apiVersion"), &self.api_version),
            (cstr!("objectId"), &self.object_id),
            (cstr!("customerId"), &self.customer_id),
            (cstr!("contentType"), &self.content_type),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                row.append(name, text.as_str());
            }
        }
        if let Some(created) = self.created {
            row.append(cstr!("created"), created);
        }
        if let Some(livemode) = self.livemode {
            row.append(cstr!("livemode"), livemode);
        }
        if let Some(problem) = self.problem {
            row.append(cstr!("problem"), problem.as_str());
        }
        match std::str::from_utf8(&self.body) {
            Ok(text) => row.append(cstr!("body"), text),
            Err(_) => row.append(
                cstr!("body"),
                Binary {
                    subtype: BinarySubtype::Generic,
                    bytes: self.body.to_vec(),
                },
            ),
        }
        row
    }
}

/// A body as the ledger holds it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// Valid UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Binary),
}

impl Body {
    /// The bytes that were signed.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(binary) => &binary.bytes,
        }
    }
}

impl std::fmt::Debug for Body {
    /// Only the length: bodies hold personal data and are never logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.as_bytes().len())
    }
}

/// Why a row was given up or put back.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LastError {
    /// A short word an operator can filter on.
    pub kind: String,
    /// A sentence; never a body or a secret.
    pub message: String,
    /// When, by the database's clock.
    pub at: DateTime,
}

/// A claimed row of the ledger. Fields that a newer version added are passed over.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEvent {
    /// The row.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The provider's id of the event.
    pub event_id: String,
    /// The provider's name.
    pub provider: String,
    /// The deduplication scope.
    pub scope: String,
    /// The source that received it.
    pub source: String,
    /// The provider's type.
    #[serde(rename = "type")]
    pub event_type: Option<String>,
    /// The provider's time, whole seconds since 1970.
    pub created: Option<i64>,
    /// Whether it is about real money.
    pub livemode: Option<bool>,
    /// The connected account.
    pub account: Option<String>,
    /// The version of the payload.
    pub api_version: Option<String>,
    /// The object it is about.
    pub object_id: Option<String>,
    /// The object's customer.
    pub customer_id: Option<String>,
    /// The bytes that were signed.
    pub body: Body,
    /// Where it stands.
    pub status: Status,
    /// How often it was claimed.
    pub epoch: i64,
    /// Handler faults so far.
    #[serde(default)]
    pub attempts: u32,
    /// How often its worker died with it.
    #[serde(default)]
    pub crashes: u32,
    /// How often it was put off because something was missing.
    #[serde(default)]
    pub deferrals: u32,
    /// What ingest found wrong with it.
    pub problem: Option<String>,
    /// When it came.
    pub received_at: DateTime,
    /// The lease it is held under.
    pub lease: Option<Lease>,
    /// The last thing that went wrong.
    pub last_error: Option<LastError>,
}

impl LedgerEvent {
    /// Whether it is the provider's answer to a question of ours. The row says so, never the
    /// body.
    #[must_use]
    pub fn is_observation(&self) -> bool {
        self.scope == observation::SCOPE
    }

    /// The claim under which its holder may finish it; none when it is not leased.
    #[must_use]
    pub fn claim(&self) -> Option<Claim> {
        self.lease.as_ref().map(|lease| Claim {
            id: self.id,
            epoch: self.epoch,
            owner: lease.owner.as_str().into(),
        })
    }
}
