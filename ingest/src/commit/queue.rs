//! What waits, what is in flight, and who wants to hear of it. Plain state: nothing here
//! waits, writes or reads a clock.
//!
//! One event is written once, however many deliveries of it wait at the same moment: those
//! that come later share the answer, also when its row is already in flight.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bson::RawDocumentBuf;

use super::CommitError;
use super::entry::{Entry, Identity, Verdict, Waiters};

/// Deliveries that may wait, in flight included. A few times what the largest group holds:
/// more would only wait longer than their providers do.
pub(super) const MAX_DELIVERIES: usize = 4_096;
/// Rows that may wait, in bytes. What memory this may take in an outage.
pub(super) const MAX_BYTES: usize = 32 * 1_024 * 1_024;
/// Rows in a group. Throughput is flat from 128 up.
pub(super) const MAX_GROUP_ROWS: usize = 256;
/// Rows in a group, in bytes; the first always fits. Well under the 48 MB of one command.
pub(super) const MAX_GROUP_BYTES: usize = 8 * 1_024 * 1_024;

/// Rows to be written together.
pub(super) struct Group {
    pub(super) rows: Vec<RawDocumentBuf>,
    /// As long as the most patient of its sources waits; the others stop waiting earlier.
    pub(super) limit: Duration,
}

/// What the writer does next.
pub(super) enum Next {
    /// Write this, then [`finish`](Queue::finish) it.
    Group(Group),
    /// Wait until something comes.
    Nothing,
    /// Closed, and all is answered.
    End,
}

/// How much the queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Held {
    pub(super) deliveries: usize,
    /// Of rows.
    pub(super) bytes: usize,
}

struct Row {
    identity: Arc<Identity>,
    row: RawDocumentBuf,
    limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    NotReady,
    Open,
    Closed,
}

/// See the module. No `Debug`, here and in what it holds: rows have bodies in them.
#[derive(Default)]
pub(super) struct Queue {
    phase: Phase,
    /// Rows to be written, in the order they came.
    waiting: VecDeque<Row>,
    /// Rows that are being written, in the order of their group.
    in_flight: Vec<Arc<Identity>>,
    /// Everyone who waits, for either.
    waiters: HashMap<Arc<Identity>, Waiters>,
    held: Held,
}

impl Queue {
    pub(super) fn open(&mut self) {
        if self.phase == Phase::NotReady {
            self.phase = Phase::Open;
        }
    }

    pub(super) fn close(&mut self) {
        self.phase = Phase::Closed;
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// What it holds, in flight included.
    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// Takes a delivery in, or says why not.
    pub(super) fn enter(&mut self, entry: Entry) -> Result<(), CommitError> {
        match self.phase {
            Phase::NotReady => return Err(CommitError::NotReady),
            Phase::Closed => return Err(CommitError::Closed),
            Phase::Open => {}
        }
        let bytes = entry.row.as_bytes().len();
        if self.held.deliveries >= MAX_DELIVERIES || self.held.bytes + bytes > MAX_BYTES {
            return Err(CommitError::Full);
        }
        self.held.deliveries += 1;
        if let Some(waiters) = self.waiters.get_mut(&entry.identity) {
            waiters.others.push(entry.answer);
            return Ok(());
        }
        self.held.bytes += bytes;
        let identity = Arc::new(entry.identity);
        let waiters = Waiters {
            first: entry.answer,
            others: Vec::new(),
            bytes,
        };
        self.waiters.insert(Arc::clone(&identity), waiters);
        self.waiting.push_back(Row {
            identity,
            row: entry.row,
            limit: entry.limit,
        });
        Ok(())
    }

    /// What the writer does next. What it is given is in flight until it is finished.
    pub(super) fn next(&mut self) -> Next {
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut limit = Duration::ZERO;
        while let Some(row) = self.waiting.pop_front() {
            let size = row.row.as_bytes().len();
            if !rows.is_empty() && (rows.len() == MAX_GROUP_ROWS || bytes + size > MAX_GROUP_BYTES)
            {
                self.waiting.push_front(row);
                break;
            }
            if self
                .waiters
                .get(&row.identity)
                .is_none_or(Waiters::are_gone)
            {
                // Nobody waits for it any more: its provider delivers it again. Writing it
                // now would only make those wait longer who still do.
                drop(self.leave(&row.identity));
                continue;
            }
            bytes += size;
            limit = limit.max(row.limit);
            rows.push(row.row);
            self.in_flight.push(row.identity);
        }
        if !rows.is_empty() {
            return Next::Group(Group { rows, limit });
        }
        match self.phase {
            Phase::Closed => Next::End,
            Phase::NotReady | Phase::Open => Next::Nothing,
        }
    }

    /// Answers what is in flight, row by row in the order of the group.
    pub(super) fn finish(&mut self, verdicts: Vec<Verdict>) {
        let in_flight = std::mem::take(&mut self.in_flight);
        // Too few verdicts would be a fault of ours; their waiters hear that nothing is known.
        let verdicts = verdicts
            .into_iter()
            .chain(std::iter::repeat(Err(CommitError::Unknown)));
        for (identity, verdict) in in_flight.iter().zip(verdicts) {
            if let Some(waiters) = self.leave(identity) {
                waiters.tell(verdict);
            }
        }
    }

    /// Nobody writes any more: lets go of all who wait, and takes no more until it is opened
    /// again.
    pub(super) fn abandon(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::NotReady;
        }
        self.waiting.clear();
        self.in_flight.clear();
        self.waiters.clear();
        self.held = Held::default();
    }

    fn leave(&mut self, identity: &Arc<Identity>) -> Option<Waiters> {
        let waiters = self.waiters.remove(identity)?;
        self.held.deliveries -= waiters.deliveries();
        self.held.bytes -= waiters.bytes;
        Some(waiters)
    }
}
