//! The rule's promises.

use super::*;
use crate::outbox::sink::Cause;

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
    let told = format!("{ending:?}");
    let MessageEnding::Retry { after, .. } = ending else {
        panic!("{told}");
    };
    after
}

#[test]
fn twelve_tries_take_about_a_day() {
    let total = |jitter| {
        (0..ATTEMPTS - 1)
            .map(|attempts| wait(after(attempts, retry_after(None), jitter)))
            .sum::<Duration>()
    };
    assert!(
        (HOUR * 22..HOUR * 26).contains(&total(0.5)),
        "{:?}",
        total(0.5)
    );
    assert!(total(1.0) < HOUR * 48, "{:?}", total(1.0));
}

#[test]
fn no_wait_is_so_short_that_it_hammers() {
    assert_eq!(wait(after(0, retry_after(None), 0.0)), MIN_WAIT);
    assert_eq!(
        wait(after(0, retry_after(Some(Duration::ZERO)), 0.0)),
        MIN_WAIT
    );
}

#[test]
fn what_the_receiver_asks_for_is_waited_and_spread() {
    let asked = Duration::from_secs(120);
    assert_eq!(wait(after(0, retry_after(Some(asked)), 0.0)), asked);
    assert_eq!(
        wait(after(0, retry_after(Some(asked)), 1.0)),
        asked + FIRST_WAIT
    );
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
        let buried = after(ATTEMPTS - 1, outcome, 0.5);
        let MessageEnding::Bury { sent, failure, .. } = &buried else {
            panic!("{buried:?}");
        };
        assert_eq!(sent.version, Some(3));
        assert_eq!(failure.kind, "unavailable");
        assert!(failure.message.ends_with("(given up after 12 tries)"));
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
