//! The lease on a row: who holds it, in which claim. Events and outbox messages share it.

use std::sync::Arc;

use bson::oid::ObjectId;
use bson::{Binary, DateTime};
use serde::Deserialize;

/// Who may finish a row, as stored during `processing` and `sending`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// The process that holds it, unique per process start.
    pub owner: String,
    /// When a rescuer may take it back, by the database's clock.
    pub until: DateTime,
    /// The driver session (its UUID) whose open transaction a rescuer must kill first.
    pub session: Option<Binary>,
}

/// One claim of one row: what every transition out of it filters on. An epoch is never
/// reused, so a claim that was taken back can finish nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The row.
    pub id: ObjectId,
    /// The claim's number, one more at each claim.
    pub epoch: i64,
    /// The process that made it.
    pub owner: Arc<str>,
}

/// How a guarded transition ended. "Nothing matched" is an outcome, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Transition {
    /// The row moved.
    Done,
    /// The row is no longer this claim's: somebody took it back.
    LeaseLost,
}
