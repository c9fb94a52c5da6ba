//! What one event goes through: claim, read, one transaction, outcome.
//!
//! ```text
//! claim ─ read ─┬─ nothing to do ───────────────────────────► concluded
//!               ├─ transaction: fence, load, decide, apply ─► applied | stale | dead
//!               └─ on failure: retry | defer | bury | release (`outcome`, pure)
//! ```

pub mod apply;
pub mod load;
pub mod outcome;
#[cfg(test)]
mod tests;
mod transaction;

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt;
use hookledger_shared::model::event::{LedgerEvent, Outcome};
use hookledger_shared::model::lease::{Claim, Transition};
use hookledger_shared::store::StoreError;
use hookledger_shared::store::error::{Fault, fault, is_duplicate_key};
use hookledger_shared::store::events::{Ending, Failure, Standing};
use hookledger_shared::store::transaction::{Slot, TransactionError};
use hookledger_shared::telemetry::metrics::Row;

use crate::app::Context;
use crate::handler::{Family, Input, Rejection};
use crate::service::Step;
use transaction::{Applied, Transaction};

/// How often a fence may miss a row that is still ours before we give the claim back.
const MAX_MISSES: u32 = 3;

/// Claims the oldest due event and takes it to its outcome. An error is trouble with the
/// database: the event was released, or its lease runs out; nothing was counted.
pub async fn process_next(context: &Context, slot: &mut Slot) -> Result<Step, StoreError> {
    let together = context.isolation.read().await;
    let Some(event) = context.stores.events.claim(slot, &context.terms()).await? else {
        return Ok(Step::Idle);
    };
    let claimed = Instant::now();
    context.wakeup.event();
    let Some(claim) = event.claim() else {
        // A claim writes its lease; a row without one was written by somebody else.
        return Ok(Step::Worked);
    };
    let work = InHand {
        context,
        claim: &claim,
        event: &event,
        claimed,
    };
    if event.crashes == 0 {
        work.guarded(slot).await?;
        return Ok(Step::Worked);
    }
    // Its worker died with it: if this one does too, no neighbour shall be counted a crash,
    // nor another that waits to run alone. That one goes back before this one may begin.
    let Ok(_only) = context.suspect.try_lock() else {
        work.end(&Ending::Release).await?;
        return Ok(Step::Worked);
    };
    drop(together);
    let patience = context.settings.lease / 4;
    match tokio::time::timeout(patience, context.isolation.write()).await {
        Ok(_alone) => work.guarded(slot).await?,
        Err(_) => work.end(&Ending::Release).await?,
    }
    Ok(Step::Worked)
}

/// One claimed event.
struct InHand<'a> {
    context: &'a Context,
    claim: &'a Claim,
    event: &'a LedgerEvent,
    claimed: Instant,
}

impl InHand<'_> {
    /// A panic anywhere is an attempt of this event, and not the end of its processor.
    async fn guarded(&self, slot: &mut Slot) -> Result<(), StoreError> {
        // Unwind safety: the slot, which alone outlives the panic, is given up.
        match AssertUnwindSafe(self.process(slot)).catch_unwind().await {
            Ok(done) => done,
            Err(_) => {
                slot.abandon().await;
                self.fault("panic", "processing it panicked".to_owned())
                    .await
            }
        }
    }

    async fn process(&self, slot: &mut Slot) -> Result<(), StoreError> {
        if let Some(problem) = &self.event.problem {
            let message = "ingest found this delivery authentic but unusable".to_owned();
            return self.bury(problem.clone(), message).await;
        }
        let Some(family) = Family::of_row(self.event) else {
            return self.ignore().await;
        };
        match Input::read(self.event, &self.context.rules) {
            Ok(input) => self.apply(slot, family, &input).await,
            Err(rejection) => self.reject(&rejection).await,
        }
    }

    /// Runs the transaction until it says what became of the event.
    async fn apply(
        &self,
        slot: &mut Slot,
        family: Family,
        input: &Input,
    ) -> Result<(), StoreError> {
        let mut work = Transaction {
            context: self.context,
            event: self.event,
            claim: self.claim,
            input,
        };
        let mut duplicate_seen = false;
        for _ in 0..MAX_MISSES {
            let ended = slot.in_transaction(self.time_left(), &mut work).await;
            if let Ok(ended) = &ended {
                (0..ended.reruns).for_each(|_| self.context.metrics.conflicted());
            }
            match ended.map(|ended| ended.value) {
                Ok(Applied::FenceMissed) => {
                    if self.context.stores.events.standing(self.claim).await? != Standing::Held {
                        self.lease_lost();
                        return Ok(());
                    }
                }
                Ok(Applied::Concluded { outcome, arrived }) => {
                    self.concluded(outcome);
                    self.wake(&arrived).await;
                    return Ok(());
                }
                Ok(Applied::Buried { failure, arrived }) => {
                    self.note_buried(&failure);
                    self.wake(&arrived).await;
                    return Ok(());
                }
                Ok(Applied::Rejected(rejection)) => return self.reject(&rejection).await,
                Ok(Applied::Deferred(waits_for)) => return self.defer(waits_for).await,
                Ok(Applied::Panicked) => {
                    let message = format!("the handler of {family:?} panicked");
                    return self.fault("panic", message).await;
                }
                Err(TransactionError::Failed(error)) => {
                    let first_duplicate = is_duplicate_key(&error) && !duplicate_seen;
                    duplicate_seen = true;
                    match fault(&error) {
                        // Two first upserts at once; the second run finds the row.
                        Fault::Ours if first_duplicate => {}
                        Fault::Ours => return self.fault("refused_write", error.to_string()).await,
                        Fault::Infrastructure | Fault::Conflict => {
                            return self.give_back(error.into()).await;
                        }
                    }
                }
                Err(error @ (TransactionError::Deadline { .. } | TransactionError::Unknown(_))) => {
                    return self.unknown(&error).await;
                }
            }
        }
        tracing::warn!(event = %self.event.event_id, "the fence kept missing a row that is ours");
        self.end(&Ending::Release).await
    }

    /// What is left of half the lease: the other half is for the answer to be late.
    fn time_left(&self) -> Duration {
        (self.context.settings.lease / 2).saturating_sub(self.claimed.elapsed())
    }

    /// The transaction has no end that we know of: ask the row.
    async fn unknown(&self, error: &TransactionError) -> Result<(), StoreError> {
        tracing::warn!(event = %self.event.event_id, %error, "asking the row what became of it");
        match self.context.stores.events.standing(self.claim).await? {
            Standing::Committed => {
                self.context.wakeup.outbox();
                self.context
                    .metrics
                    .committed(self.claimed.elapsed(), self.since_receipt());
                Ok(())
            }
            Standing::Held => self.end(&Ending::Release).await,
            Standing::Lost => {
                self.lease_lost();
                Ok(())
            }
        }
    }

    /// Trouble with the database: released if that can be written, and nothing counted.
    async fn give_back(&self, trouble: StoreError) -> Result<(), StoreError> {
        self.end(&Ending::Release).await?;
        Err(trouble)
    }

    /// Others may have waited for what this event has brought. Only a hint: their backoff
    /// finds it too.
    async fn wake(&self, arrived: &[String]) {
        if arrived.is_empty() {
            return;
        }
        match self.context.stores.events.arrived(arrived).await {
            Ok(0) => {}
            Ok(woken) => {
                tracing::debug!(woken, "events had waited for this one");
                self.context.wakeup.event();
            }
            Err(error) => tracing::debug!(%error, "events that waited find it by themselves"),
        }
    }

    async fn ignore(&self) -> Result<(), StoreError> {
        let ending = Ending::Conclude {
            outcome: Outcome::Ignored,
            retention: self.context.settings.retention,
        };
        if self.context.stores.events.end(self.claim, &ending).await? == Transition::Done {
            self.concluded(Outcome::Ignored);
        } else {
            self.lease_lost();
        }
        Ok(())
    }

    async fn reject(&self, rejection: &Rejection) -> Result<(), StoreError> {
        self.bury(
            rejection.kind.as_str().to_owned(),
            rejection.message.clone(),
        )
        .await
    }

    async fn bury(&self, kind: String, message: String) -> Result<(), StoreError> {
        let failure = Failure { kind, message };
        self.end(&Ending::Bury {
            failure,
            fault: false,
        })
        .await
    }

    async fn fault(&self, kind: &'static str, message: String) -> Result<(), StoreError> {
        self.context.metrics.attempt_failed(kind);
        tracing::warn!(event = %self.event.event_id, kind, %message, attempt = self.event.attempts + 1, "attempt failed");
        let failure = Failure {
            kind: kind.to_owned(),
            message,
        };
        let max_attempts = self.context.settings.max_attempts;
        let ending =
            outcome::after_fault(self.event.attempts, max_attempts, failure, fastrand::f64());
        self.end(&ending).await
    }

    async fn defer(&self, waits_for: String) -> Result<(), StoreError> {
        let ending = outcome::after_deferral(
            self.event.deferrals,
            self.since_receipt(),
            waits_for,
            fastrand::f64(),
        );
        self.end(&ending).await
    }

    async fn end(&self, ending: &Ending) -> Result<(), StoreError> {
        let ended = self.context.stores.events.end(self.claim, ending).await?;
        match (ended, ending) {
            (Transition::LeaseLost, _) => self.lease_lost(),
            (Transition::Done, Ending::Bury { failure, .. }) => self.note_buried(failure),
            (
                Transition::Done,
                Ending::Release
                | Ending::Retry { .. }
                | Ending::Defer { .. }
                | Ending::Conclude { .. },
            ) => {}
        }
        Ok(())
    }

    fn concluded(&self, outcome: Outcome) {
        let metrics = &self.context.metrics;
        metrics.processed(outcome.as_str());
        metrics.committed(self.claimed.elapsed(), self.since_receipt());
        self.context.wakeup.outbox();
        tracing::debug!(
            event = %self.event.event_id,
            r#type = self.event.event_type.as_deref().unwrap_or_default(),
            outcome = outcome.as_str(),
            took_ms = self.claimed.elapsed().as_millis(),
            "event done"
        );
    }

    fn note_buried(&self, failure: &Failure) {
        self.context
            .metrics
            .buried(Row::Event, bounded(&failure.kind));
        self.context.wakeup.outbox();
        tracing::error!(
            event = %self.event.event_id,
            r#type = self.event.event_type.as_deref().unwrap_or_default(),
            kind = failure.kind,
            message = failure.message,
            "dead letter"
        );
    }

    fn lease_lost(&self) {
        self.context.metrics.lease_lost(Row::Event);
        tracing::warn!(event = %self.event.event_id, epoch = self.claim.epoch, "lost lease: somebody took the event back");
    }

    fn since_receipt(&self) -> Duration {
        let now = self.context.clock.now().timestamp_millis();
        let millis = now.saturating_sub(self.event.received_at.timestamp_millis());
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// A label value from a closed set: a kind that came out of the ledger may be anything.
fn bounded(kind: &str) -> &'static str {
    const KINDS: [&str; 10] = [
        "wrong_livemode",
        "no_usable_id",
        "unreadable",
        "unknown_sku",
        "unlinked_purchase",
        "amount_mismatch",
        "panic",
        "refused_write",
        "waited_too_long",
        "crashed",
    ];
    KINDS
        .into_iter()
        .find(|known| *known == kind)
        .unwrap_or("other")
}
