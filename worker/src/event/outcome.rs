//! What becomes of a claim that did not end in its transaction: pure.

use std::time::Duration;

use hookledger_shared::backoff::Backoff;
use hookledger_shared::store::events::{Ending, Failure};

/// The wait after a handler's first fault.
const FIRST: Duration = Duration::from_millis(500);
/// Each wait is up to this much longer.
const FACTOR: f64 = 4.0;
/// The longest wait.
const CAP: Duration = Duration::from_secs(600);
/// The wait after something was missing.
const DEFER_FIRST: Duration = Duration::from_secs(5);
/// Missing things come, or not, within days; asking more often than this is noise.
const DEFER_CAP: Duration = Duration::from_secs(3_600);
/// After so long it will not come any more.
const DEFER_LIMIT: Duration = Duration::from_secs(72 * 3_600);

/// A handler fault: try again, or give up after `max_attempts` tries. `attempts` have
/// failed before this one; `jitter` is in `0..1`.
#[must_use]
pub fn after_fault(attempts: u32, max_attempts: u32, failure: Failure, jitter: f64) -> Ending {
    let failed = attempts.saturating_add(1);
    if failed >= max_attempts {
        return Ending::Bury {
            failure,
            fault: true,
        };
    }
    let after = wait(FIRST, CAP, failed, jitter);
    Ending::Retry { after, failure }
}

/// Something is missing: ask again later, or give up when it has been missing too long.
#[must_use]
pub fn after_deferral(deferrals: u32, waiting: Duration, waits_for: String, jitter: f64) -> Ending {
    if waiting >= DEFER_LIMIT {
        let message = format!(
            "still missing after {} h: {waits_for}",
            waiting.as_secs() / 3_600
        );
        return Ending::Bury {
            failure: Failure {
                kind: "waited_too_long".to_owned(),
                message,
            },
            fault: false,
        };
    }
    // Half fixed: a deferral is no collision that jitter must spread.
    let after = wait(
        DEFER_FIRST,
        DEFER_CAP,
        deferrals.saturating_add(1),
        0.5 + jitter / 2.0,
    );
    Ending::Defer { after, waits_for }
}

fn wait(first: Duration, cap: Duration, failed: u32, jitter: f64) -> Duration {
    Backoff::try_new(first, FACTOR, cap, u32::MAX)
        .map_or(cap, |backoff| backoff.delay(failed, jitter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Failure {
        Failure {
            kind: "fault".to_owned(),
            message: "on purpose".to_owned(),
        }
    }

    #[test]
    fn the_last_attempt_buries() {
        let retried = |attempts| {
            matches!(
                after_fault(attempts, 5, failure(), 0.5),
                Ending::Retry { .. }
            )
        };
        assert!((0..4).all(retried));
        assert!(matches!(
            after_fault(4, 5, failure(), 0.5),
            Ending::Bury { fault: true, .. }
        ));
        assert!(matches!(
            after_fault(u32::MAX, 5, failure(), 0.5),
            Ending::Bury { .. }
        ));
        assert!(matches!(
            after_fault(0, 1, failure(), 0.5),
            Ending::Bury { .. }
        ));
    }

    #[test]
    fn a_deferral_waits_longer_each_time_and_ends_after_three_days() {
        let wait = |deferrals| match after_deferral(deferrals, Duration::ZERO, "x".to_owned(), 1.0)
        {
            Ending::Defer { after, .. } => after,
            other @ (Ending::Release
            | Ending::Retry { .. }
            | Ending::Bury { .. }
            | Ending::Conclude { .. }) => {
                panic!("{other:?}")
            }
        };
        assert_eq!(wait(0), DEFER_FIRST);
        assert!(wait(1) > wait(0));
        assert_eq!(wait(u32::MAX), DEFER_CAP);
        let late = after_deferral(3, DEFER_LIMIT, "x".to_owned(), 0.0);
        assert!(
            matches!(late, Ending::Bury { fault: false, failure } if failure.kind == "waited_too_long")
        );
    }
}
