//! What the worker counts and measures. Gauges come from the heads of small indexes and
//! from kept counters; whoever sets them never counts the ledger.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::book::{Book, Bounded, Seconds};

/// A millisecond: one transaction's least.
const FIRST_BUCKET_SECONDS: f64 = 0.001;
/// Seventeen doublings of it reach 65 s, past the longest transaction.
const COMMIT_BUCKETS: u16 = 17;
/// Twenty-three reach 70 minutes: how long an event may have waited in an outage.
const APPLIED_BUCKETS: u16 = 23;

/// Which of the two kinds of work a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    /// A row of the ledger.
    Event,
    /// A row of the outbox.
    Message,
}

impl Row {
    fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Message => "message",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct What {
    what: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Buried {
    what: &'static str,
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Destination {
    destination: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Delivered {
    destination: String,
    result: &'static str,
}

/// The worker's metrics.
#[derive(Debug)]
pub struct WorkerMetrics {
    book: Book,
    destinations: Bounded,
    ledger_lag: Seconds,
    events: Family<State, Gauge>,
    outcomes: Family<Outcome, Counter>,
    attempts: Family<Kind, Counter>,
    claim_to_commit: Histogram,
    received_to_applied: Histogram,
    conflicts: Counter,
    lease_losses: Family<What, Counter>,
    rescued: Counter,
    crashes: Counter,
    outbox_lag: Family<Destination, Seconds>,
    outbox_deliveries: Family<Delivered, Counter>,
    dead_letters: Family<What, Gauge>,
    buried: Family<Buried, Counter>,
    repairs: Family<Outcome, Counter>,
    repairs_due: Gauge,
}

impl WorkerMetrics {
    /// Metrics of a process with these destinations; any other name is counted as
    /// `unknown`.
    pub fn new<S: Into<String>>(destinations: impl IntoIterator<Item = S>) -> Self {
        let mut book = Book::new();
        Self {
            destinations: Bounded::new(destinations),
            ledger_lag: book.seconds(
                "ledger_lag",
                "How long the first event that is due has been waiting; 0 when none is",
            ),
            events: book.gauges("events", "Events by state, counted up to a cap"),
            outcomes: book.counters("outcomes", "Events that were processed, by outcome"),
            attempts: book.counters(
                "attempts",
                "Attempts at events that failed, by kind of error",
            ),
            claim_to_commit: book.durations(
                "claim_to_commit",
                "Time from an event's claim to the commit of its transaction",
                FIRST_BUCKET_SECONDS,
                COMMIT_BUCKETS,
            ),
            received_to_applied: book.durations(
                "received_to_applied",
                "Time from an event's receipt to the commit of its effects",
                FIRST_BUCKET_SECONDS,
                APPLIED_BUCKETS,
            ),
            conflicts: book.counter("conflicts", "Transactions run again after a write conflict"),
            lease_losses: book.counters(
                "lease_losses",
                "Work given up because its lease had passed to another",
            ),
            rescued: book.counter("rescued", "Expired leases brought back"),
            crashes: book.counter("crashes", "Leases whose worker had died with them"),
            outbox_lag: book.seconds_by(
                "outbox_lag",
                "How long a destination's first message that is due has been waiting",
            ),
            outbox_deliveries: book.counters(
                "outbox_deliveries",
                "Deliveries of messages by destination and result",
            ),
            dead_letters: book.gauges("dead_letters", "Dead letters there are, up to a cap"),
            buried: book.counters("buried", "Dead letters made, by kind of error"),
            repairs: book.counters(
                "repairs",
                "Questions to the provider where events alone can't tell, by outcome",
            ),
            repairs_due: book.gauge(
                "repairs_due",
                "Subscriptions that the provider should have been asked for, up to a cap",
            ),
            book,
        }
    }

    /// How long the first due event has been waiting.
    pub fn set_ledger_lag(&self, lag: Duration) {
        self.ledger_lag.set(lag.as_secs_f64());
    }

    /// How many events are in `state`, a word from the code; capped by the caller.
    pub fn set_events(&self, state: &'static str, count: u64) {
        self.events
            .get_or_create(&State { state })
            .set(signed(count));
    }

    /// An event was processed. `outcome` is a word from the code.
    pub fn processed(&self, outcome: &'static str) {
        self.outcomes.get_or_create(&Outcome { outcome }).inc();
    }

    /// An attempt at an event failed. `kind` is a word from the code.
    pub fn attempt_failed(&self, kind: &'static str) {
        self.attempts.get_or_create(&Kind { kind }).inc();
    }

    /// An event's transaction committed: how long after its claim, and after its receipt.
    pub fn committed(&self, since_claim: Duration, since_receipt: Duration) {
        self.claim_to_commit.observe(since_claim.as_secs_f64());
        self.received_to_applied
            .observe(since_receipt.as_secs_f64());
    }

    /// A transaction met a write conflict and ran again.
    pub fn conflicted(&self) {
        self.conflicts.inc();
    }

    /// A lease had passed to another before its work was finished.
    pub fn lease_lost(&self, row: Row) {
        self.lease_losses
            .get_or_create(&What { what: row.as_str() })
            .inc();
    }

    /// Expired leases were brought back, `crashes` of them from workers that had died.
    pub fn rescued(&self, leases: u64, crashes: u64) {
        self.rescued.inc_by(leases);
        self.crashes.inc_by(crashes);
    }

    /// How long a destination's first due message has been waiting.
    pub fn set_outbox_lag(&self, destination: &str, lag: Duration) {
        let destination = self.destinations.label(destination);
        self.outbox_lag
            .get_or_create(&Destination { destination })
            .set(lag.as_secs_f64());
    }

    /// A message was handed to its sink. `result` is a word from the code.
    pub fn delivered(&self, destination: &str, result: &'static str) {
        let destination = self.destinations.label(destination);
        self.outbox_deliveries
            .get_or_create(&Delivered {
                destination,
                result,
            })
            .inc();
    }

    /// How many dead letters there are; capped by the caller.
    pub fn set_dead_letters(&self, row: Row, count: u64) {
        self.dead_letters
            .get_or_create(&What { what: row.as_str() })
            .set(signed(count));
    }

    /// A row became a dead letter. `kind` is a word from the code.
    pub fn buried(&self, row: Row, kind: &'static str) {
        self.buried
            .get_or_create(&Buried {
                what: row.as_str(),
                kind,
            })
            .inc();
    }

    /// The provider was asked for an object. `outcome` is a word from the code.
    pub fn repaired(&self, outcome: &'static str) {
        self.repairs.get_or_create(&Outcome { outcome }).inc();
    }

    /// How many objects are due to be asked for; capped by the caller.
    pub fn set_repairs_due(&self, count: u64) {
        self.repairs_due.set(signed(count));
    }

    /// The text that is scraped, of [`CONTENT_TYPE`](super::CONTENT_TYPE).
    #[must_use]
    pub fn encode(&self) -> String {
        self.book.encode()
    }

    /// The name of every metric.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.book.names()
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_written_under_its_documented_name() {
        let metrics = WorkerMetrics::new(["app"]);
        metrics.set_ledger_lag(Duration::from_millis(1_500));
        metrics.set_events("received", 7);
        metrics.processed("applied");
        metrics.attempt_failed("transient");
        metrics.committed(Duration::from_millis(8), Duration::from_millis(64));
        metrics.conflicted();
        metrics.lease_lost(Row::Event);
        metrics.rescued(2, 1);
        metrics.set_outbox_lag("app", Duration::ZERO);
        metrics.delivered("gone", "delivered");
        metrics.set_dead_letters(Row::Message, 3);
        metrics.buried(Row::Message, "refused");
        metrics.repaired("observed");
        metrics.set_repairs_due(4);
        let text = metrics.encode();
        for line in [
            "hookledger_ledger_lag_seconds 1.5",
            "hookledger_events{state=\"received\"} 7",
            "hookledger_outcomes_total{outcome=\"applied\"} 1",
            "hookledger_attempts_total{kind=\"transient\"} 1",
            "hookledger_claim_to_commit_seconds_sum 0.008",
            "hookledger_received_to_applied_seconds_sum 0.064",
            "hookledger_conflicts_total 1",
            "hookledger_lease_losses_total{what=\"event\"} 1",
            "hookledger_rescued_total 2",
            "hookledger_crashes_total 1",
            "hookledger_outbox_lag_seconds{destination=\"app\"} 0.0",
            "hookledger_outbox_deliveries_total{destination=\"unknown\",result=\"delivered\"} 1",
            "hookledger_dead_letters{what=\"message\"} 3",
            "hookledger_repairs_total{outcome=\"observed\"} 1",
            "hookledger_repairs_due 4",
            "hookledger_buried_total{what=\"message\",kind=\"refused\"} 1",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
        for name in metrics.names() {
            assert!(text.contains(name.as_str()), "{name} is missing in\n{text}");
        }
    }
}
