//! What becomes of a message after a delivery: pure.

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

#[cfg(test)]
mod tests {
    use super::super::sink::Cause;
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn policy() -> Policy {
        Policy {
            backoff: Backoff::try_new(FIRST_WAIT, FACTOR, MAX_WAIT, ATTEMPTS).unwrap(),
            retention: HOUR,
            settle: Duration::from_secs(2),
        }
    }

    fn failure() -> Failure {
        Failure {
            cause: Cause::Unavailable,
            message: "answered 503".to_owned(),
        }
    }

    fn after(attempts: u32, outcome: Outcome, jitter: f64) -> MessageEnding {
        let sent = SentAs { version: Some(3) };
        ending(outcome, Tried { sent, attempts }, &policy(), jitter)
    }

    fn retry_after(asked: Option<Duration>) -> Outcome {
        Outcome::Retry {
            after: asked,
            failure: failure(),
        }
    }

    fn wait(ending: MessageEnding) -> Duration {
        match ending {
            MessageEnding::Retry { after, .. } => after,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn twelve_tries_take_about_a_day() {
        let total = |jitter| {
            (0..ATTEMPTS - 1)
                .map(|attempts| wait(after(attempts, retry_after(None), jitter)))
                .sum::<Duration>()
        };
        assert!((HOUR * 22..HOUR * 26).contains(&total(0.5)), "{:?}", total(0.5));
        assert!(total(1.0) < HOUR * 48, "{:?}", total(1.0));
    }

    #[test]
    fn no_wait_is_so_short_that_it_hammers() {
        assert_eq!(wait(after(0, retry_after(None), 0.0)), MIN_WAIT);
        assert_eq!(wait(after(0, retry_after(Some(Duration::ZERO)), 0.0)), MIN_WAIT);
    }

    #[test]
    fn what_the_receiver_asks_for_is_waited_and_spread() {
        let asked = Duration::from_secs(120);
        assert_eq!(wait(after(0, retry_after(Some(asked)), 0.0)), asked);
        assert_eq!(wait(after(0, retry_after(Some(asked)), 1.0)), asked + FIRST_WAIT);
    }

    #[test]
    fn the_last_failure_buries_under_its_own_cause() {
        for outcome in [
            retry_after(Some(HOUR)),
            Outcome::Unknown { failure: failure() },
        ] {
            assert!(matches!(
                after(ATTEMPTS - 2, outcome.clone(), 0.5),
                MessageEnding::Retry { .. }
            ));
            match after(ATTEMPTS - 1, outcome, 0.5) {
                MessageEnding::Bury { sent, failure, .. } => {
                    assert_eq!(sent.version, Some(3));
                    assert_eq!(failure.kind, "unavailable");
                    assert!(failure.message.ends_with("(given up after 12 tries)"));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_refusal_buries_at_once_and_a_delivery_ends_it() {
        let refused = Outcome::Refused { failure: failure() };
        assert!(matches!(after(0, refused, 0.5), MessageEnding::Bury { .. }));
        let delivered = Outcome::Delivered {
            note: "delivered: answered 200".to_owned(),
        };
        let sent = SentAs { version: Some(3) };
        assert_eq!(
            after(5, delivered, 0.5),
            MessageEnding::Sent {
                sent,
                retention: HOUR,
                settle: Duration::from_secs(2),
                note: "delivered: answered 200".to_owned(),
            }
        );
    }
}
