//! How long to leave Stripe alone when it is down, busy or refuses us, so that it is not
//! hammered with questions that it can't answer. Pure.

use std::time::Duration;

use hookledger_shared::backoff::Backoff;
use hookledger_shared::model::book::OWN_ACCOUNT;
use hookledger_shared::model::subscription::Subscription;

use super::client::Answer;

/// Between two questions of one worker, when all is well: ten a second, where Stripe allows
/// twenty-five of a kind.
pub const PACE: Duration = Duration::from_millis(100);
/// The first wait when it is not.
const FIRST: Duration = Duration::from_secs(1);
/// The longest: an outage that is over is noticed within this.
const CAP: Duration = Duration::from_secs(60);
/// A key that is refused is for a person to mend; until then we ask just often enough to
/// see it.
const REFUSED: Duration = Duration::from_secs(300);
/// No question follows at once on a failed one.
const MIN_SHARE: f64 = 0.5;

/// How Stripe is, by its last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It answers.
    Well,
    /// It asks us to wait; how long, where it says so.
    Busy(Option<Duration>),
    /// It does not answer, or something else does.
    Down,
    /// It does not take our key.
    Refusing,
}

impl Health {
    /// What an answer says of Stripe, rather than of the object.
    #[must_use]
    pub fn of(answer: &Answer, subscription: &Subscription) -> Self {
        match answer {
            Answer::Object(_) | Answer::Missing | Answer::Unreadable => Self::Well,
            // A connected account that has left us refuses us for itself alone.
            Answer::Refused(403) if subscription.account != OWN_ACCOUNT => Self::Well,
            Answer::Refused(_) => Self::Refusing,
            Answer::Limited(after) => Self::Busy(*after),
            Answer::Unavailable(_) => Self::Down,
        }
    }
}

/// Counts failures in a row.
#[derive(Debug, Default)]
pub struct Breaker {
    failures: u32,
}

impl Breaker {
    /// How long to wait before the next question. `jitter` is in `0..1`.
    pub fn wait(&mut self, health: Health, jitter: f64) -> Duration {
        if health == Health::Well {
            self.failures = 0;
            return PACE;
        }
        self.failures = self.failures.saturating_add(1);
        let grown = Backoff::try_new(FIRST, 2.0, CAP, u32::MAX).map_or(CAP, |backoff| {
            backoff.delay(self.failures, jitter.max(MIN_SHARE))
        });
        match health {
            Health::Well => PACE,
            Health::Busy(asked) => asked.unwrap_or(grown).max(PACE),
            Health::Down => grown,
            Health::Refusing => REFUSED,
        }
    }

    /// Whether the last answer was the first of its kind that did not help: the moment to
    /// say so.
    #[must_use]
    pub fn has_just_opened(&self) -> bool {
        self.failures == 1
    }

    /// How often in a row it did not help.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_asked_about_ever_less_often_and_its_end_is_noticed() {
        let mut breaker = Breaker::default();
        let waits: Vec<_> = (0..10).map(|_| breaker.wait(Health::Down, 1.0)).collect();
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!((waits[0], waits[9]), (FIRST, CAP));
        assert_eq!(breaker.wait(Health::Well, 1.0), PACE);
        assert_eq!(breaker.wait(Health::Down, 1.0), FIRST);
        assert!(breaker.has_just_opened());
        assert!(breaker.wait(Health::Down, 0.0) >= FIRST / 2);
    }

    #[test]
    fn what_stripe_asks_for_is_what_it_gets_and_a_refused_key_is_left_alone() {
        let mut breaker = Breaker::default();
        let asked = Duration::from_secs(17);
        assert_eq!(breaker.wait(Health::Busy(Some(asked)), 0.0), asked);
        assert_eq!(breaker.wait(Health::Busy(None), 1.0), FIRST * 2);
        assert_eq!(breaker.wait(Health::Busy(Some(Duration::ZERO)), 1.0), PACE);
        assert_eq!(breaker.wait(Health::Refusing, 0.0), REFUSED);
    }
}
