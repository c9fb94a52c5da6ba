//! The time against which signatures are checked. Everything else (when a delivery came,
//! leases) goes by the database server's clock.

use hookledger_shared::clock;

/// Where a verifier's `now` comes from.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// This machine's clock, in production always.
    #[default]
    Machine,
    /// A time that stands still, in seconds since 1970: signatures that were made once stay
    /// fresh for a test.
    Fixed(i64),
}

impl Clock {
    /// Whole seconds since 1970.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        match self {
            Self::Machine => clock::unix_seconds(),
            Self::Fixed(seconds) => seconds,
        }
    }
}
