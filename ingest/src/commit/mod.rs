//! Group commit: many waiting deliveries, one `insertMany`, each its own answer.
//!
//! No timer: a group is what gathered while the one before was in flight, so an idle
//! service adds no delay, and a busy one pays one round trip for many. `queue` is the
//! state and its rules, without waiting; here is who waits and who writes.
//!
//! What is not known to be on a majority is answered as not stored: the provider delivers
//! again, and the unique index makes that harmless.

mod entry;
mod queue;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bson::RawDocumentBuf;
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::store::{Insertion, StoreError};
use hookledger_shared::telemetry::metrics::IngestMetrics;
use tokio::sync::{Notify, oneshot};

use self::entry::{Entry, Identity, Verdict};
use self::queue::{Group, Next, Queue};

/// A delivery's event is on a majority, in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// This delivery brought it.
    Stored,
    /// An earlier one had.
    Duplicate,
}

/// It is not known to be; the provider has to deliver again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Nobody writes yet: the database has not been reached and checked.
    #[error("the database has not been reached yet")]
    NotReady,
    /// Too much waits already.
    #[error("too many deliveries wait for their commit")]
    Full,
    /// The process stops.
    #[error("the process is stopping")]
    Closed,
    /// Nothing was known in time.
    #[error("no commit in time")]
    TimedOut,
    /// The write failed, or its outcome is unknown.
    #[error("the write failed, or its outcome is unknown")]
    Unknown,
    /// The database will never take this row.
    #[error("the database refuses the row")]
    Refused,
}

/// Where deliveries wait for their commit. Clones are the same place.
#[derive(Clone)]
pub struct Committer(Arc<Place>);

struct Place {
    queue: Mutex<Queue>,
    work: Notify,
    metrics: Arc<IngestMetrics>,
}

impl Committer {
    /// A place that takes nothing until somebody [`writes`](Self::write).
    #[must_use]
    pub fn new(metrics: Arc<IngestMetrics>) -> Self {
        Self(Arc::new(Place {
            queue: Mutex::default(),
            work: Notify::new(),
            metrics,
        }))
    }

    /// Waits until the event is on a majority, at most `limit`. Who stops waiting has lost
    /// nothing but the answer.
    ///
    /// # Errors
    /// When that is not known.
    pub async fn commit(&self, event: NewEvent, limit: Duration) -> Result<Committed, CommitError> {
        let answer = self.enter(event, limit)?;
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(verdict)) => verdict,
            // Whoever had it in hand is gone.
            Ok(Err(_)) => Err(CommitError::Unknown),
            Err(_) => Err(CommitError::TimedOut),
        }
    }

    fn enter(
        &self,
        event: NewEvent,
        limit: Duration,
    ) -> Result<oneshot::Receiver<Verdict>, CommitError> {
        // The row is made by whoever brings it, so that the one writer only writes.
        let row = event.row();
        let (answer, waiting) = oneshot::channel();
        let entry = Entry {
            identity: Identity::of(event),
            row,
            limit,
            answer,
        };
        self.with_queue(|queue| queue.enter(entry))?;
        self.0.work.notify_one();
        Ok(waiting)
    }

    /// Writes group after group with `insert` until the place is closed and empty. One at a
    /// time: two writers would race each other for the same ids.
    pub async fn write<I, F>(&self, insert: I)
    where
        I: Fn(Vec<RawDocumentBuf>, Duration) -> F + Send,
        F: Future<Output = Result<Vec<Insertion>, StoreError>> + Send,
    {
        self.with_queue(Queue::open);
        // If `insert` panics, nobody may wait for an answer that never comes.
        let _hands = Hands(self);
        loop {
            match self.with_queue(Queue::next) {
                Next::Group(group) => self.write_group(group, &insert).await,
                Next::Nothing => self.0.work.notified().await,
                Next::End => return,
            }
        }
    }

    async fn write_group<I, F>(&self, group: Group, insert: &I)
    where
        I: Fn(Vec<RawDocumentBuf>, Duration) -> F,
        F: Future<Output = Result<Vec<Insertion>, StoreError>>,
    {
        let began = Instant::now();
        let size = group.rows.len();
        let outcome = insert(group.rows, group.limit).await;
        self.0.metrics.committed(size, began.elapsed());
        let verdicts = verdicts(outcome, size);
        self.with_queue(|queue| queue.finish(verdicts));
    }

    /// Takes no more, and has the writer end when all that waits is answered.
    pub fn close(&self) {
        self.with_queue(Queue::close);
        self.0.work.notify_one();
    }

    /// Whether somebody writes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.with_queue(|queue| queue.is_open())
    }

    /// Works on the queue, and tells the metrics what it holds since.
    fn with_queue<R>(&self, work: impl FnOnce(&mut Queue) -> R) -> R {
        // A lock poisoned by a panic still guards a queue that is whole: `abandon` empties it.
        let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let before = queue.held();
        let result = work(&mut queue);
        let after = queue.held();
        drop(queue);
        let metrics = &self.0.metrics;
        let more = |after: usize, before: usize| after.saturating_sub(before);
        metrics.queue_grew(
            more(after.deliveries, before.deliveries),
            more(after.bytes, before.bytes),
        );
        metrics.queue_shrank(
            more(before.deliveries, after.deliveries),
            more(before.bytes, after.bytes),
        );
        result
    }
}

impl std::fmt::Debug for Committer {
    /// Without the rows, which have bodies in them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer")
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}

/// Held by whoever writes. Let go, by whatever way, it leaves nobody waiting.
struct Hands<'a>(&'a Committer);

impl Drop for Hands<'_> {
    fn drop(&mut self) {
        self.0.with_queue(Queue::abandon);
    }
}

/// What each row of the group may be told, in order.
fn verdicts(outcome: Result<Vec<Insertion>, StoreError>, size: usize) -> Vec<Verdict> {
    let insertions = match outcome {
        Ok(insertions) => insertions,
        Err(error) => {
            tracing::warn!(rows = size, %error, "deliveries could not be stored, or it is not known");
            return vec![Err(CommitError::Unknown); size];
        }
    };
    let verdict = |insertion| match insertion {
        Insertion::Stored => Ok(Committed::Stored),
        Insertion::AlreadyHere => Ok(Committed::Duplicate),
        Insertion::Refused(code) => {
            tracing::error!(code, "the database refuses a delivery whatever we do");
            Err(CommitError::Refused)
        }
    };
    insertions.into_iter().map(verdict).collect()
}
