//! One delivery on its way into the queue, and everyone who waits for one event.

use std::time::Duration;

use bson::RawDocumentBuf;
use hookledger_shared::model::event::NewEvent;
use tokio::sync::oneshot;

use super::{CommitError, Committed};

/// What a waiting delivery is told.
pub(super) type Verdict = Result<Committed, CommitError>;

/// What makes two deliveries the same event: the ledger's unique index.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    event_id: String,
    provider: &'static str,
    scope: String,
}

impl Identity {
    pub(super) fn of(event: NewEvent) -> Self {
        Self {
            event_id: event.event_id,
            provider: event.provider,
            scope: event.scope,
        }
    }
}

/// A delivery that wants to be committed.
pub(super) struct Entry {
    pub(super) identity: Identity,
    pub(super) row: RawDocumentBuf,
    /// How long its source waits.
    pub(super) limit: Duration,
    pub(super) answer: oneshot::Sender<Verdict>,
}

/// Everyone who waits for one event.
#[derive(Debug)]
pub(super) struct Waiters {
    /// The delivery whose row is written.
    pub(super) first: oneshot::Sender<Verdict>,
    /// Those that came later.
    pub(super) others: Vec<oneshot::Sender<Verdict>>,
    /// Of the row.
    pub(super) bytes: usize,
}

impl Waiters {
    pub(super) fn deliveries(&self) -> usize {
        1 + self.others.len()
    }

    /// Whether nobody is left who would hear the answer.
    pub(super) fn are_gone(&self) -> bool {
        self.first.is_closed() && self.others.iter().all(oneshot::Sender::is_closed)
    }

    /// A sender's error says that nobody listens any more, which is their right.
    pub(super) fn tell(self, verdict: Verdict) {
        let later = match verdict {
            Ok(Committed::Stored | Committed::Duplicate) => Ok(Committed::Duplicate),
            Err(error) => Err(error),
        };
        let _ = self.first.send(verdict);
        for other in self.others {
            let _ = other.send(later);
        }
    }
}
