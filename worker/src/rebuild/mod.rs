//! Computes every domain document again from the ledger, and compares it with the live one.
//!
//! ```text
//! replay   the ledger by `_id`, into a `fold::Fold`; then whatever was processed since
//! scan     each live collection by `_id`, beside the fold: which documents differ?
//! settle   those again, until each differs while it stands still, or differs no more
//! verdict  what the ledger can't tell is reported, not counted                     pure
//! repair   the rest is brought back, one transaction a document
//! ```
//!
//! The live state moves on meanwhile. A difference counts only when the live document did
//! not move between two reads with a catch-up between them: then the fold has seen every
//! event that wrote it, and whatever it has seen beyond changes nothing in it.

mod compare;
mod kept;
mod knots;
mod live;
mod repair;
mod replay;
pub mod report;
mod row;
mod scan;
mod settle;
mod sums;
mod verdict;

use std::time::Duration;

use hookledger_shared::config::Routing;
use hookledger_shared::store::transaction::TransactionError;
use hookledger_shared::store::{Operator, StoreError, Stores};

use crate::handler::Rules;
use replay::Replay;
use report::{Outcome, Report};
use scan::Scanned;
use settle::Settled;

/// The provider whose events have rules.
const PROVIDER: &str = "stripe";
/// How often repairs are looked at again before the rest is reported.
const PASSES: u32 = 5;

/// What a rebuild works with.
#[derive(Debug, Clone, Copy)]
pub struct Rebuild<'a> {
    /// The database.
    pub stores: &'a Stores,
    /// The rules, as they are configured now.
    pub rules: &'a Rules,
    /// Where new views go.
    pub routing: &'a Routing,
    /// How long a state message waits for its burst to end.
    pub settle: Duration,
    /// How long processed events are kept.
    pub retention: Duration,
    /// Says how far it is, in a line for people.
    pub progress: fn(&str),
}

/// Why a rebuild stopped.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// Reading failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A repair failed, or it is not known whether it happened.
    #[error("{collection} {key}: {source}; run it again")]
    Repair {
        /// The collection.
        collection: &'static str,
        /// The key.
        key: String,
        /// What happened.
        source: Box<TransactionError>,
    },
    /// A document has no form in BSON.
    #[error("a document can't be written down: {0}")]
    Bson(#[from] bson::error::Error),
}

impl Rebuild<'_> {
    /// Compares, and changes nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn check(&self) -> Result<Report, RebuildError> {
        let (replay, settled, scanned) = self.compare().await?;
        let outcome = self.judge(&replay, settled, &scanned).await?;
        Ok(Report::new(&replay, outcome))
    }

    /// Compares, and brings back what differs.
    ///
    /// # Errors
    /// When the database does not answer, or a repair has no end that is known. What was
    /// repaired before that stays.
    pub async fn repair(&self, operator: &Operator) -> Result<Report, RebuildError> {
        let (mut replay, settled, scanned) = self.compare().await?;
        let mut outcome = self.judge(&replay, settled, &scanned).await?;
        let mut left: Vec<_> = outcome.differences.iter().map(|d| d.unit.clone()).collect();
        let mut todo = outcome.differences.clone();
        for _ in 0..PASSES {
            if left.is_empty() {
                break;
            }
            repair::all(self, &replay, &todo, operator).await?;
            let settled = settle::settle(self, &mut replay, left).await?;
            let again = self.judge(&replay, settled, &scanned).await?;
            todo = again.differences;
            left = todo.iter().map(|d| d.unit.clone()).collect();
            left.extend(again.moving);
        }
        outcome.mark_repaired(&left);
        Ok(Report::new(&replay, outcome))
    }

    async fn compare(&self) -> Result<(Replay, Settled, Scanned), RebuildError> {
        let mut replay = Replay::start(self).await?;
        replay.first_pass(self).await?;
        (self.progress)(&format!("comparing {} documents", replay.documents()));
        let mut scanned = scan::scan(self, &replay.fold).await?;
        replay.catch_up(self).await?;
        scanned.look_again(&replay.fold);
        let suspects = std::mem::take(&mut scanned.suspects);
        (self.progress)(&format!("looking again at {} documents", suspects.len()));
        let settled = settle::settle(self, &mut replay, suspects).await?;
        Ok((replay, settled, scanned))
    }

    async fn judge(
        &self,
        replay: &Replay,
        settled: Settled,
        scanned: &Scanned,
    ) -> Result<Outcome, RebuildError> {
        let mut named = verdict::named(&settled.lasting);
        named.extend(scanned.named.iter().cloned());
        let mut lost = named.clone();
        for some in named.iter().cloned().collect::<Vec<_>>().chunks(500) {
            for held in self.stores.events.held(PROVIDER, some).await? {
                lost.remove(&held);
            }
        }
        let ledger = verdict::Ledger {
            fold: &replay.fold,
            lost,
            shortened: replay.age() >= self.retention.mul_f64(0.9),
            older: &replay.older,
            unreadable: &replay.unreadable_ids,
            retired: &replay.retired,
        };
        let (differences, untold) = verdict::judge(settled.lasting, &scanned.extra, &ledger);
        Ok(Outcome {
            differences,
            untold,
            moving: settled.moving,
            repaired: std::collections::BTreeSet::new(),
        })
    }
}
