//! The one place where wall-clock time enters. Rules get `now` as an argument; claims and
//! leases use the database's own clock (`$$NOW`).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bson::DateTime;

/// This machine's time.
#[must_use]
#[allow(
    clippy::disallowed_methods,
    reason = "this is the place the ban points to"
)]
pub fn now() -> DateTime {
    DateTime::now()
}

/// This machine's time in whole seconds since 1970, as providers sign it.
#[must_use]
pub fn unix_seconds() -> i64 {
    now().timestamp_millis().div_euclid(1_000)
}

/// This machine's clock corrected by its offset to the database server, so that a fast
/// clock can't hide what it stamps from claims that compare with the server's time.
///
/// Clones share the offset. It is zero until the first [`observe`](Self::observe).
#[derive(Debug, Clone, Default)]
pub struct ServerClock {
    offset_ms: Arc<AtomicI64>,
}

impl ServerClock {
    /// A clock with no offset yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one answer of the server: asked at `asked` (our clock), answered
    /// `round_trip` later with `server` (`hello.localTime`).
    pub fn observe(&self, asked: DateTime, round_trip: Duration, server: DateTime) {
        self.offset_ms
            .store(offset_ms(asked, round_trip, server), Ordering::Relaxed);
    }

    /// How far the server is ahead of us, in milliseconds; negative when it is behind.
    #[must_use]
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    /// The server's time as far as we know it.
    #[must_use]
    pub fn now(&self) -> DateTime {
        DateTime::from_millis(now().timestamp_millis().saturating_add(self.offset_ms()))
    }
}

/// The server read its clock somewhere within the round trip; its middle errs least.
fn offset_ms(asked: DateTime, round_trip: Duration, server: DateTime) -> i64 {
    let half = i64::try_from(round_trip.as_millis() / 2).unwrap_or(i64::MAX);
    let then = asked.timestamp_millis().saturating_add(half);
    server.timestamp_millis().saturating_sub(then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_taken_at_the_middle_of_the_round_trip() {
        for (asked, round_trip, server, offset) in [
            (1_000, 0, 1_000, 0),
            (1_000, 100, 1_050, 0),
            (1_000, 100, 4_050, 3_000),
            (5_000, 20, 2_010, -3_000),
        ] {
            let round_trip = Duration::from_millis(round_trip);
            let (asked, server) = (DateTime::from_millis(asked), DateTime::from_millis(server));
            assert_eq!(offset_ms(asked, round_trip, server), offset);
        }
    }

    #[test]
    fn a_clone_sees_the_offset_that_another_observed() {
        let clock = ServerClock::new();
        let clone = clock.clone();
        let hour = 3_600_000;
        let asked = now();
        let server = DateTime::from_millis(asked.timestamp_millis() + hour);
        clock.observe(asked, Duration::ZERO, server);
        assert_eq!(clone.offset_ms(), hour);
        assert!(clone.now() >= server);
    }
}
