//! How long to wait before trying again: pure, exponential, capped, with full jitter.
//!
//! Randomness is an argument, so that a table can test it. Whether to try again at all
//! is decided by the caller, who knows what failed.

use std::time::Duration;

/// A retry policy that can't be built wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    first: Duration,
    factor: f64,
    cap: Duration,
    attempts: u32,
}

/// Why a [`Backoff`] was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BackoffError {
    /// A first delay of nothing would grow to nothing: a busy loop.
    #[error("the first delay must be longer than zero")]
    NoFirstDelay,
    /// A factor under one would try ever faster.
    #[error("the factor must be a finite number of at least 1")]
    FactorUnderOne,
    /// The cap cuts even the first delay.
    #[error("the cap must not be shorter than the first delay")]
    CapUnderFirst,
    /// Nothing would ever be tried.
    #[error("there must be at least one attempt")]
    NoAttempts,
}

impl Backoff {
    /// A policy of `attempts` tries in all, the first wait being up to `first`, each next
    /// one up to `factor` times longer, none longer than `cap`.
    ///
    /// # Errors
    /// Names the argument that makes no sense.
    pub fn try_new(
        first: Duration,
        factor: f64,
        cap: Duration,
        attempts: u32,
    ) -> Result<Self, BackoffError> {
        if first.is_zero() {
            return Err(BackoffError::NoFirstDelay);
        }
        if !factor.is_finite() || factor < 1.0 {
            return Err(BackoffError::FactorUnderOne);
        }
        if cap < first {
            return Err(BackoffError::CapUnderFirst);
        }
        if attempts == 0 {
            return Err(BackoffError::NoAttempts);
        }
        Ok(Self {
            first,
            factor,
            cap,
            attempts,
        })
    }

    /// How many tries there are in all.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether `failed` tries have used up the policy.
    #[must_use]
    pub fn is_exhausted(&self, failed: u32) -> bool {
        failed >= self.attempts
    }

    /// The longest wait after the `failed`-th failure (counted from 1).
    #[must_use]
    pub fn ceiling(&self, failed: u32) -> Duration {
        let exponent = i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX);
        // The growth overflows to infinity for late attempts; the cap is what is meant then.
        let seconds = self.first.as_secs_f64() * self.factor.powi(exponent);
        Duration::try_from_secs_f64(seconds).map_or(self.cap, |grown| grown.min(self.cap))
    }

    /// The wait after the `failed`-th failure (counted from 1): the ceiling times `jitter`,
    /// a random number in `0..1`. Full jitter, since half-fixed waits keep a crowd together.
    #[must_use]
    pub fn delay(&self, failed: u32, jitter: f64) -> Duration {
        let share = if jitter.is_finite() {
            jitter.clamp(0.0, 1.0)
        } else {
            1.0
        };
        self.ceiling(failed).mul_f64(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_makes_no_sense_is_refused_with_its_reason() {
        for (first, factor, cap, attempts, reason) in [
            (Duration::ZERO, 2.0, SECOND, 3, BackoffError::NoFirstDelay),
            (SECOND, 0.99, SECOND, 3, BackoffError::FactorUnderOne),
            (SECOND, f64::NAN, SECOND, 3, BackoffError::FactorUnderOne),
            (
                SECOND,
                f64::INFINITY,
                SECOND,
                3,
                BackoffError::FactorUnderOne,
            ),
            (SECOND * 2, 2.0, SECOND, 3, BackoffError::CapUnderFirst),
            (SECOND, 2.0, SECOND, 0, BackoffError::NoAttempts),
        ] {
            assert_eq!(Backoff::try_new(first, factor, cap, attempts), Err(reason));
        }
    }

    #[test]
    fn delays_grow_to_the_cap_and_stay_there() {
        let backoff = Backoff::try_new(SECOND, 2.0, SECOND * 10, 12).unwrap();
        for (failed, ceiling) in [
            (0, 1),
            (1, 1),
            (2, 2),
            (3, 4),
            (4, 8),
            (5, 10),
            (u32::MAX, 10),
        ] {
            assert_eq!(
                backoff.ceiling(failed),
                SECOND * ceiling,
                "after {failed} failures"
            );
        }
    }

    #[test]
    fn jitter_is_full_and_never_leaves_its_range() {
        let backoff = Backoff::try_new(SECOND, 2.0, SECOND * 10, 12).unwrap();
        for (jitter, milliseconds) in [
            (0.0, 0),
            (0.25, 1_000),
            (0.5, 2_000),
            (7.0, 4_000),
            (-1.0, 0),
        ] {
            assert_eq!(
                backoff.delay(3, jitter),
                Duration::from_millis(milliseconds)
            );
        }
        assert_eq!(backoff.delay(3, f64::NAN), SECOND * 4);
    }

    #[test]
    fn the_last_attempt_exhausts() {
        let backoff = Backoff::try_new(SECOND, 2.0, SECOND, 3).unwrap();
        assert_eq!(
            [2, 3, 4].map(|failed| backoff.is_exhausted(failed)),
            [false, true, true]
        );
    }
}
