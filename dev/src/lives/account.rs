//! What became of lives on a replica set.

use std::fmt;
use std::time::Duration;

/// What was done, and how it ended.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Lives.
    pub rounds: usize,
    /// Events, each once.
    pub events: usize,
    /// Deliveries, with the doubles.
    pub deliveries: usize,
    /// How often the worker was killed with `kill -9`.
    pub kills: usize,
    /// Events that a kill had in its hands.
    pub crashes: u64,
    /// Transactions that ran again after a write conflict.
    pub conflicts: u64,
    /// What is said to be uncertain: subscriptions and customers.
    pub flagged: usize,
    /// One-off messages.
    pub messages: usize,
    /// From the first insertion to the last outcome.
    pub took: Duration,
    /// Whatever is not as it must be.
    pub faults: Vec<String>,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("rounds", self.rounds as u64),
            ("kills", self.kills as u64),
            ("events", self.events as u64),
            ("deliveries", self.deliveries as u64),
            ("rescued from kills", self.crashes),
            ("conflicts", self.conflicts),
            ("one-off messages", self.messages as u64),
            ("flagged", self.flagged as u64),
        ];
        for (what, count) in rows {
            writeln!(f, "{what:<20}{count:>8}")?;
        }
        write!(f, "{:<20}{:>8.0?}", "took", self.took)
    }
}
