//! What ingest counts and measures.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::book::{Book, Bounded};

/// Half a millisecond: quicker than a journaled write on any disk.
const FIRST_BUCKET_SECONDS: f64 = 0.000_5;
/// Sixteen doublings of it reach 16 s, past any commit time-out worth having.
const COMMIT_BUCKETS: u16 = 16;
/// Groups of 1 to 1,024.
const GROUP_BUCKETS: u16 = 11;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    source: String,
    answer: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failed {
    source: String,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Matched {
    source: String,
    secret: String,
}

/// Ingest's metrics.
#[derive(Debug)]
pub struct IngestMetrics {
    book: Book,
    sources: Bounded,
    deliveries: Family<Answered, Counter>,
    signature_failures: Family<Failed, Counter>,
    secret_matched: Family<Matched, Counter>,
    commit_group_size: Histogram,
    commit: Histogram,
    queue_deliveries: Gauge,
    queue_bytes: Gauge,
}

impl IngestMetrics {
    /// Metrics of a process with these sources; any other name is counted as `unknown`.
    pub fn new<S: Into<String>>(sources: impl IntoIterator<Item = S>) -> Self {
        let mut book = Book::new();
        Self {
            sources: Bounded::new(sources),
            deliveries: book.counters("deliveries", "Deliveries by source and answer"),
            signature_failures: book.counters(
                "signature_failures",
                "Deliveries that were not authentic, by source and reason",
            ),
            secret_matched: book.counters(
                "secret_matched",
                "Authentic deliveries by the secret that matched; one that stays at zero can go",
            ),
            commit_group_size: book.sizes(
                "commit_group_size",
                "Deliveries that were written together in one group commit",
                GROUP_BUCKETS,
            ),
            commit: book.durations(
                "commit",
                "Time of one group commit, majority-journaled",
                FIRST_BUCKET_SECONDS,
                COMMIT_BUCKETS,
            ),
            queue_deliveries: book
                .gauge("queue_deliveries", "Deliveries that wait for their commit"),
            queue_bytes: book.bytes("queue", "Bodies of deliveries that wait for their commit"),
            book,
        }
    }

    /// A delivery was answered. `answer` is a word from the code.
    pub fn answered(&self, source: &str, answer: &'static str) {
        let source = self.sources.label(source);
        self.deliveries
            .get_or_create(&Answered { source, answer })
            .inc();
    }

    /// A delivery was not authentic. `reason` is a word from the code.
    pub fn signature_failed(&self, source: &str, reason: &'static str) {
        let source = self.sources.label(source);
        self.signature_failures
            .get_or_create(&Failed { source, reason })
            .inc();
    }

    /// A delivery was authentic by `secret`, the id of a configured secret (never the
    /// secret itself).
    pub fn secret_matched(&self, source: &str, secret: &str) {
        let labels = Matched {
            source: self.sources.label(source),
            secret: secret.to_owned(),
        };
        self.secret_matched.get_or_create(&labels).inc();
    }

    /// A group of `deliveries` was written, or failed to be, in `took`.
    pub fn committed(&self, deliveries: usize, took: Duration) {
        // A group's size is far below where a float loses count.
        self.commit_group_size
            .observe(u32::try_from(deliveries).unwrap_or(u32::MAX).into());
        self.commit.observe(took.as_secs_f64());
    }

    /// Deliveries began to wait for their commit.
    pub fn queue_grew(&self, deliveries: usize, bytes: usize) {
        self.queue_deliveries.inc_by(signed(deliveries));
        self.queue_bytes.inc_by(signed(bytes));
    }

    /// Deliveries are done waiting.
    pub fn queue_shrank(&self, deliveries: usize, bytes: usize) {
        self.queue_deliveries.dec_by(signed(deliveries));
        self.queue_bytes.dec_by(signed(bytes));
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

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_written_under_its_documented_name() {
        let metrics = IngestMetrics::new(["stripe"]);
        metrics.answered("stripe", "stored");
        metrics.signature_failed("stripe", "too_old");
        metrics.secret_matched("stripe", "0");
        metrics.committed(3, Duration::from_millis(4));
        metrics.queue_grew(3, 700);
        metrics.queue_shrank(1, 200);
        let text = metrics.encode();
        for line in [
            "hookledger_deliveries_total{source=\"stripe\",answer=\"stored\"} 1",
            "hookledger_signature_failures_total{source=\"stripe\",reason=\"too_old\"} 1",
            "hookledger_secret_matched_total{source=\"stripe\",secret=\"0\"} 1",
            "hookledger_commit_group_size_sum 3.0",
            "hookledger_commit_seconds_sum 0.004",
            "hookledger_queue_deliveries 2",
            "hookledger_queue_bytes 500",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
        for name in metrics.names() {
            assert!(text.contains(name.as_str()), "{name} is missing in\n{text}");
        }
    }

    #[test]
    fn a_strangers_path_makes_no_new_series() {
        let metrics = IngestMetrics::new(["stripe"]);
        metrics.answered("../etc/passwd", "unknown_source");
        metrics.answered("other", "unknown_source");
        let text = metrics.encode();
        let line = "hookledger_deliveries_total{source=\"unknown\",answer=\"unknown_source\"} 2";
        assert!(text.contains(line), "{text}");
        assert!(!text.contains("passwd"));
    }
}
