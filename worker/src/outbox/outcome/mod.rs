//! What becomes of a message after a delivery: pure.

#[cfg(test)]
mod tests;

use std::time::Duration;

use hookledger_shared::backoff::Backoff;
use hookledger_shared::store::events;
use hookledger_shared::store::outbox::{MessageEnding, SentAs};

use super::sink::{Failure, Outcome};

/// Tries in all.
pub const ATTEMPTS: u32 = 12;
/// The first wait: a restart of the receiver is over by the second or third try.
pub const FIRST_WAIT: Duration = Duration::from_secs(5);
/// Four tries fall into the first two minutes, seven into the first hour.
pub const FACTOR: f64 = 4.0;
/// The last waits. With full jitter a wait is half its ceiling on average, so the twelfth
/// try comes after about a day (24 h on average, 48 h at most): an outage over one night
/// and one working day is survived without anybody's help.
pub const MAX_WAIT: Duration = Duration::from_secs(10 * 3_600);
/// Full jitter can ask for no wait at all; a receiver in trouble gets at least this.
pub const MIN_WAIT: Duration = Duration::from_millis(500);

/// How messages are tried again and kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// When to try again, and how often.
    pub backoff: Backoff,
    /// How long a sent message is kept.
    pub retention: Duration,
    /// How long a newer version of a state waits for its burst to end.
    pub settle: Duration,
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// The version that was sent, of a state message.
    pub sent: SentAs,
    /// Tries that had failed before this one.
    pub attempts: u32,
}

/// How the claim ends. `jitter` is a random number in `0..1`.
#[must_use]
pub fn ending(outcome: Outcome, tried: Tried, policy: &Policy, jitter: f64) -> MessageEnding {
    match outcome {
        Outcome::Delivered { note } => MessageEnding::Sent {
            sent: tried.sent,
            retention: policy.retention,
            settle: policy.settle,
            note,
        },
        Outcome::Retry { after, failure } => retry(after, failure, tried, policy, jitter),
        // The same key goes with the next try, by which the receiver knows it again.
        Outcome::Unknown { failure } => retry(None, failure, tried, policy, jitter),
        Outcome::Refused { failure } => bury(failure, "", tried, policy),
    }
}

fn retry(
    asked: Option<Duration>,
    failure: Failure,
    tried: Tried,
    policy: &Policy,
    jitter: f64,
) -> MessageEnding {
    let failed = tried.attempts.saturating_add(1);
    if policy.backoff.is_exhausted(failed) {
        let note = format!(" (given up after {failed} tries)");
        return bury(failure, &note, tried, policy);
    }
    // On top of what the receiver asked for: many wait for the same moment.
    let wait = policy.backoff.delay(failed, jitter) + asked.unwrap_or_default();
    MessageEnding::Retry {
        after: wait.max(MIN_WAIT),
        failure: stored(failure, ""),
    }
}

fn bury(failure: Failure, note: &str, tried: Tried, policy: &Policy) -> MessageEnding {
    MessageEnding::Bury {
        sent: tried.sent,
        settle: policy.settle,
        failure: stored(failure, note),
    }
}

/// A failure as a row keeps it: the cause is its kind, also of the last one.
fn stored(failure: Failure, note: &str) -> events::Failure {
    events::Failure {
        kind: failure.cause.as_str().to_owned(),
        message: failure.message + note,
    }
}
