//! A message in hand: its claim is kept while it is sent, and ended after.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use hookledger_shared::model::lease::{Claim, Transition};
use hookledger_shared::model::outbox::OutboxMessage;
use hookledger_shared::store::StoreError;
use hookledger_shared::store::error::Fault;
use hookledger_shared::store::outbox::{MessageEnding, SentAs};
use hookledger_shared::telemetry::metrics::Row;
use tokio::time::{Instant, sleep};

use super::Deliverer;
use super::outcome::{self, Tried};
use super::sink::{Cause, Failure, Outcome, Sink};

/// The pause before an ending that the database did not take is written again.
const FINISH_PAUSE: Duration = Duration::from_millis(500);

/// A claimed message.
pub(super) struct Held<'a> {
    deliverer: &'a Deliverer,
    message: OutboxMessage,
    claim: Claim,
}

impl<'a> Held<'a> {
    pub(super) fn new(
        deliverer: &'a Deliverer,
        message: OutboxMessage,
    ) -> Result<Self, StoreError> {
        let unleased = || StoreError::Unexpected("a claimed message has no lease".to_owned());
        Ok(Self {
            deliverer,
            claim: message.claim().ok_or_else(unleased)?,
            message,
        })
    }

    /// Sends it, and keeps the claim meanwhile; none when the claim was lost, which also
    /// stops the sending.
    pub(super) async fn send(&self, sink: &Sink) -> Option<Outcome> {
        let now = self.deliverer.clock.now().timestamp_millis();
        // Unwind safety: sinks keep nothing between two messages. A panic is this message's
        // failed try, and not the end of its destination's loop.
        let sending = AssertUnwindSafe(sink.deliver(&self.message, now.div_euclid(1_000)));
        tokio::select! {
            outcome = sending.catch_unwind() => Some(outcome.unwrap_or_else(|_| panicked())),
            () = self.keep() => None,
        }
    }

    /// Renews the claim again and again; returns when it is lost.
    async fn keep(&self) {
        let lease = self.deliverer.terms.lease;
        loop {
            sleep(lease / 3).await;
            match self.deliverer.stores.outbox.renew(&self.claim, lease).await {
                Ok(Transition::Done) => {}
                Ok(Transition::LeaseLost) => return,
                // Two more are tried before the lease is over; then the rescue decides.
                Err(error) => tracing::warn!(key = %self.message.key, %error, "lease not renewed"),
            }
        }
    }

    /// Ends the claim.
    pub(super) async fn finish(&self, outcome: Outcome) -> Result<(), StoreError> {
        self.deliverer
            .metrics
            .delivered(&self.message.destination, outcome.as_str());
        let cause = cause(&outcome);
        let tried = Tried {
            sent: SentAs {
                version: self.message.version,
            },
            attempts: self.message.attempts,
        };
        let ending = outcome::ending(outcome, tried, &self.deliverer.policy, fastrand::f64());
        match self.end(&ending).await? {
            Some(Transition::Done) => self.note(&ending, cause),
            Some(Transition::LeaseLost) => self.lost(),
            None => tracing::debug!(key = %self.message.key, "an earlier write had ended it"),
        }
        Ok(())
    }

    /// Writes the ending, if need be more than once while the lease holds: what has been
    /// delivered would be delivered again for want of this line. None when a write without
    /// an answer had ended it already, as far as one can know.
    async fn end(&self, ending: &MessageEnding) -> Result<Option<Transition>, StoreError> {
        let started = Instant::now();
        let mut in_doubt = false;
        loop {
            match self.deliverer.stores.outbox.end(&self.claim, ending).await {
                Ok(Transition::LeaseLost) if in_doubt => {
                    // Either a write without an answer ended it, or somebody took it over.
                    let taken = self.deliverer.stores.outbox.is_claimed_anew(&self.claim);
                    return Ok(taken.await?.then_some(Transition::LeaseLost));
                }
                Ok(transition) => return Ok(Some(transition)),
                Err(error)
                    if error.fault() == Fault::Ours
                        || started.elapsed() >= self.deliverer.terms.lease =>
                {
                    return Err(error);
                }
                Err(error) => {
                    in_doubt = true;
                    tracing::debug!(key = %self.message.key, %error, "ending not written yet");
                    sleep(FINISH_PAUSE).await;
                }
            }
        }
    }

    /// Another has it: this one's sending counts for nothing, and nothing more is done.
    pub(super) fn lost(&self) {
        self.deliverer.metrics.lease_lost(Row::Message);
        tracing::warn!(key = %self.message.key, destination = %self.message.destination, "lost lease");
    }

    fn note(&self, ending: &MessageEnding, cause: Option<Cause>) {
        let (key, destination) = (&self.message.key, &self.message.destination);
        let attempt = self.message.attempts.saturating_add(1);
        match ending {
            MessageEnding::Sent { note, .. } => {
                tracing::debug!(%key, %destination, attempt, "{note}");
            }
            MessageEnding::Retry { after, failure } => {
                let (kind, why) = (&failure.kind, &failure.message);
                tracing::warn!(%key, %destination, attempt, kind, ?after, "not delivered: {why}");
            }
            MessageEnding::Bury { failure, .. } => {
                if let Some(cause) = cause {
                    self.deliverer.metrics.buried(Row::Message, cause.as_str());
                }
                let (kind, why) = (&failure.kind, &failure.message);
                tracing::error!(%key, %destination, attempt, kind, "dead letter: {why}");
            }
            MessageEnding::Release => tracing::debug!(%key, %destination, "released"),
        }
    }
}

fn panicked() -> Outcome {
    Outcome::Unknown {
        failure: Failure {
            cause: Cause::Unsendable,
            message: "sending it panicked".to_owned(),
        },
    }
}

fn cause(outcome: &Outcome) -> Option<Cause> {
    match outcome {
        Outcome::Delivered { .. } => None,
        Outcome::Retry { failure, .. }
        | Outcome::Refused { failure }
        | Outcome::Unknown { failure } => Some(failure.cause),
    }
}
