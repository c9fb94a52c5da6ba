//! Leaving `sending`: each transition is guarded by the claim and writes a line into the
//! message's trail.

use std::time::Duration;

use bson::{Document, doc};

use super::Outbox;
use crate::model::lease::{Claim, Transition};
use crate::model::outbox::MessageStatus;
use crate::store::error::StoreError;
use crate::store::events::Failure;
use crate::store::leased;
use crate::store::pipeline::{last_error, literal, millis};

/// How many lines a trail keeps, the newest.
const TRAIL: i32 = 20;

/// What was delivered: the version, for a state message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentAs {
    /// The version that the destination took.
    pub version: Option<i64>,
}

/// How a claim of a message ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageEnding {
    /// The destination took it; the row may go after `retention`. A state message whose
    /// version has moved on becomes pending again, due after `settle`.
    Sent {
        /// What was delivered.
        sent: SentAs,
        /// How long the row is kept.
        retention: Duration,
        /// How long the newer version settles.
        settle: Duration,
        /// The trail's line.
        note: String,
    },
    /// Not taken, or not known: one attempt more, due after the backoff.
    Retry {
        /// How long to wait.
        after: Duration,
        /// What went wrong.
        failure: Failure,
    },
    /// Given up.
    Bury(Failure),
    /// Shutdown before anything was sent: due now, nothing counted.
    Release,
}

pub(super) fn trail(what: &str) -> Document {
    let line = doc! { "at": "$$NOW", "epoch": "$epoch", "what": literal(what) };
    let lines = doc! { "$concatArrays": [{ "$ifNull": ["$trail", []] }, [line]] };
    doc! { "$slice": [lines, -TRAIL] }
}

fn sent(as_version: SentAs, retention: Duration, settle: Duration, note: &str) -> Document {
    let current = match as_version.version {
        Some(version) => doc! { "$eq": ["$version", version] },
        None => literal(true),
    };
    let either = |yes: bson::Bson, no: bson::Bson| doc! { "$cond": [current.clone(), yes, no] };
    let (is_sent, is_pending) = (
        MessageStatus::Sent.as_str(),
        MessageStatus::Pending.as_str(),
    );
    let gone = || bson::Bson::from("$$REMOVE");
    doc! {
        "status": either(is_sent.into(), is_pending.into()),
        "sentAt": either("$$NOW".into(), gone()),
        "expireAt": either(doc! { "$add": ["$$NOW", millis(retention)] }.into(), gone()),
        "dueAt": either(gone(), doc! { "$add": ["$$NOW", millis(settle)] }.into()),
        "attempts": either("$attempts".into(), 0.into()),
        "trail": trail(note),
    }
}

impl Outbox {
    /// Ends a claim.
    pub async fn end(
        &self,
        claim: &Claim,
        ending: &MessageEnding,
    ) -> Result<Transition, StoreError> {
        let pending = || literal(MessageStatus::Pending.as_str());
        let set = match ending {
            MessageEnding::Sent {
                sent: as_version,
                retention,
                settle,
                note,
            } => sent(*as_version, *retention, *settle, note),
            MessageEnding::Retry { after, failure } => doc! {
                "status": pending(),
                "dueAt": { "$add": ["$$NOW", millis(*after)] },
                "attempts": { "$add": ["$attempts", 1] },
                "lastError": last_error(failure),
                "trail": trail(&format!("{}: {}", failure.kind, failure.message)),
            },
            MessageEnding::Bury(failure) => doc! {
                "status": literal(MessageStatus::Dead.as_str()),
                "deadAt": "$$NOW",
                "attempts": { "$add": ["$attempts", 1] },
                "lastError": last_error(failure),
                "trail": trail(&format!("{}: {}", failure.kind, failure.message)),
            },
            MessageEnding::Release => doc! { "status": pending(), "dueAt": "$$NOW" },
        };
        let guard = leased::held(MessageStatus::Sending.as_str(), claim);
        leased::leave(&self.raw, guard, set, self.limit).await
    }
}
