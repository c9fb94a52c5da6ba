//! Figures: rates, latencies and their medians over runs.

use std::time::Duration;

/// What one run at one level measured.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Per second.
    pub rate: f64,
    /// The middle latency.
    pub p50: Duration,
    /// The latency that one in a hundred exceeds.
    pub p99: Duration,
}

impl Run {
    /// From each operation's latency and the time that all took.
    #[must_use]
    pub fn of(mut latencies: Vec<Duration>, took: Duration) -> Self {
        latencies.sort_unstable();
        let at = |share: f64| {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an index below the length"
            )]
            let index = (latencies.len() as f64 * share) as usize;
            latencies
                .get(index)
                .or(latencies.last())
                .copied()
                .unwrap_or_default()
        };
        Self {
            rate: latencies.len() as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE),
            p50: at(0.50),
            p99: at(0.99),
        }
    }
}

/// The median of several values, and how far they lie apart in percent of it.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let Some(middle) = values.get(values.len() / 2).copied() else {
        return (0.0, 0.0);
    };
    let spread = values.last().unwrap_or(&middle) - values.first().unwrap_or(&middle);
    (middle, 100.0 * spread / middle.max(f64::MIN_POSITIVE))
}

/// Milliseconds with two digits.
#[must_use]
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_tells_rate_and_quantiles() {
        let latencies = (1..=100).map(Duration::from_millis).collect();
        let run = Run::of(latencies, Duration::from_secs(2));
        assert_eq!(
            (run.rate, run.p50, run.p99),
            (50.0, Duration::from_millis(51), Duration::from_millis(100))
        );
        assert_eq!(median([3.0, 1.0, 2.0]), (2.0, 100.0));
    }
}
