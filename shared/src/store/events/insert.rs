//! Inserting a batch. `insert_many`, also for one row: only its reply shows the write
//! concern error that may stand beside a duplicate.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bson::raw::RawDocumentBuf;
use mongodb::Collection;
use mongodb::error::{ErrorKind, InsertManyError};

use super::Events;
use crate::store::connect::{majority, wtimeout};
use crate::store::error::{DUPLICATE_KEY, StoreError, within};

/// What became of one row of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// Newly stored, on a majority, in the journal.
    Stored,
    /// The event was there already, and that copy is on a majority.
    AlreadyHere,
    /// The server won't store this row whatever we do; the code says why.
    Refused(i32),
}

impl Events {
    /// Inserts `rows`, each with its own answer, in the order given. An error means that
    /// the outcome of every row is unknown. `limit` bounds the whole, the server's wait for
    /// a majority a second less.
    ///
    /// A duplicate counts only when the reply carries no write concern error: the first
    /// copy may not be on a majority yet, and an answer of "already stored" would lose it
    /// with its primary.
    pub async fn insert_many(
        &self,
        rows: &[RawDocumentBuf],
        limit: Duration,
    ) -> Result<Vec<Insertion>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(StoreError::TimedOut(limit));
            }
            // When the primary is lost meanwhile the rows go to the next one: whatever the
            // first has kept of them is found as a duplicate.
            if let Some(answered) = self.primary.unless_lost(self.insert(rows, left)).await {
                return answered;
            }
        }
    }

    async fn insert(
        &self,
        rows: &[RawDocumentBuf],
        limit: Duration,
    ) -> Result<Vec<Insertion>, StoreError> {
        let raw: Collection<RawDocumentBuf> = self.raw.clone_with_type();
        let insert = raw
            .insert_many(rows)
            .ordered(false)
            .write_concern(majority(wtimeout(limit)));
        let error = match within(limit, async { insert.await }).await {
            Ok(_) => return Ok(vec![Insertion::Stored; rows.len()]),
            Err(error) => error,
        };
        if let StoreError::Database(database) = &error
            && let ErrorKind::InsertMany(many) = database.kind.as_ref()
            && let Some(answers) = answers(rows.len(), many)
        {
            return Ok(answers);
        }
        Err(error)
    }
}

/// The rule alone: what each of `rows` rows may be told, none when nothing may be.
fn answers(rows: usize, reply: &InsertManyError) -> Option<Vec<Insertion>> {
    if reply.write_concern_error.is_some() {
        return None;
    }
    let errors: HashMap<usize, i32> = reply
        .write_errors
        .iter()
        .flatten()
        .map(|error| (error.index, error.code))
        .collect();
    (0..rows)
        .map(|index| match errors.get(&index) {
            None => Some(Insertion::Stored),
            Some(&DUPLICATE_KEY) => Some(Insertion::AlreadyHere),
            // The row itself is wrong: too large, not UTF-8, too deep.
            Some(&code @ (2 | 15 | 22 | 10_334 | 17_280 | 17_420)) => {
                Some(Insertion::Refused(code))
            }
            // Anything else (no longer primary, shutting down) says nothing final.
            Some(_) => None,
        })
        .collect()
}
