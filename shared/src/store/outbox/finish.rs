//! Leaving `sending`: each transition is guarded by the claim and writes a line into the
//! message's trail.

use std::time::Duration;

use bson::{Bson, Document, doc};

use super::Outbox;
use crate::model::lease::{Claim, Transition};
use crate::model::outbox::MessageStatus;
use crate::store::error::{StoreError, within};
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
    /// Given up. A state message whose version has moved on becomes pending again, due
    /// after `settle`: what was refused is not what it carries now.
    Bury {
        /// What was refused.
        sent: SentAs,
        /// How long the newer version settles.
        settle: Duration,
        /// What went wrong.
        failure: Failure,
    },
    /// Shutdown before anything was sent: due now, nothing counted.
    Release,
}

pub(super) fn trail(what: &str) -> Document {
    let line = doc! { "at": "$$NOW", "epoch": "$epoch", "what": literal(what) };
    let lines = doc! { "$concatArrays": [{ "$ifNull": ["$trail", []] }, [line]] };
    doc! { "$slice": [lines, -TRAIL] }
}

/// Whether the row still carries what was sent.
fn current(as_version: SentAs) -> Document {
    match as_version.version {
        Some(version) => doc! { "$eq": ["$version", version] },
        None => literal(true),
    }
}

/// Leaves `sending` for `rest`; a row that carries a newer version by now becomes pending
/// instead, with its own attempts before it.
fn rest(as_version: SentAs, settle: Duration, rest: MessageStatus, attempts: Bson) -> Document {
    let either = |yes: Bson, no: Bson| doc! { "$cond": [current(as_version), yes, no] };
    let settled = doc! { "$add": ["$$NOW", millis(settle)] };
    doc! {
        "status": either(rest.as_str().into(), MessageStatus::Pending.as_str().into()),
        "dueAt": either(gone(), settled.into()),
        "attempts": either(attempts, 0.into()),
    }
}

/// A field that is there only when the row still carries what was sent.
fn when_current(as_version: SentAs, value: impl Into<Bson>) -> Document {
    doc! { "$cond": [current(as_version), value.into(), gone()] }
}

fn gone() -> Bson {
    "$$REMOVE".into()
}

fn said(failure: &Failure) -> String {
    format!("{}: {}", failure.kind, failure.message)
}

impl Outbox {
    /// Whether somebody has claimed the message after `claim`, as a majority knows it.
    pub async fn is_claimed_anew(&self, claim: &Claim) -> Result<bool, StoreError> {
        let read = self
            .raw
            .find_one(doc! { "_id": claim.id, "epoch": { "$gt": claim.epoch } })
            .projection(doc! { "_id": 1 })
            .read_concern(mongodb::options::ReadConcern::majority());
        Ok(within(self.limit, async { read.await }).await?.is_some())
    }

    /// Ends a claim.
    pub async fn end(
        &self,
        claim: &Claim,
        ending: &MessageEnding,
    ) -> Result<Transition, StoreError> {
        let pending = || literal(MessageStatus::Pending.as_str());
        let set = match ending {
            MessageEnding::Sent {
                sent,
                retention,
                settle,
                note,
            } => {
                let mut set = rest(*sent, *settle, MessageStatus::Sent, "$attempts".into());
                let expire = doc! { "$add": ["$$NOW", millis(*retention)] };
                set.insert("sentAt", when_current(*sent, "$$NOW"));
                set.insert("expireAt", when_current(*sent, expire));
                set.insert("trail", trail(note));
                set
            }
            MessageEnding::Retry { after, failure } => doc! {
                "status": pending(),
                "dueAt": { "$add": ["$$NOW", millis(*after)] },
                "attempts": { "$add": ["$attempts", 1] },
                "lastError": last_error(failure),
                "trail": trail(&said(failure)),
            },
            MessageEnding::Bury {
                sent,
                settle,
                failure,
            } => {
                let one_more = doc! { "$add": ["$attempts", 1] };
                let mut set = rest(*sent, *settle, MessageStatus::Dead, one_more.into());
                set.insert("deadAt", when_current(*sent, "$$NOW"));
                set.insert("lastError", last_error(failure));
                set.insert("trail", trail(&said(failure)));
                set
            }
            MessageEnding::Release => doc! { "status": pending(), "dueAt": "$$NOW" },
        };
        let guard = leased::held(MessageStatus::Sending.as_str(), claim);
        leased::leave(&self.raw, guard, set, self.limit).await
    }
}
