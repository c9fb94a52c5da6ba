//! The names of metrics are an interface: a document names none that does not exist.

use std::collections::BTreeSet;

use hookledger_shared::telemetry::metrics::{IngestMetrics, WorkerMetrics};

use crate::tree;

/// What both programs count and measure.
fn existing() -> BTreeSet<String> {
    let ingest = IngestMetrics::new(["stripe"]);
    let worker = WorkerMetrics::new(["app".to_owned()]);
    let names = ingest.names().iter().chain(worker.names());
    names.cloned().collect()
}

/// Metrics that a text names. Our crates have the same prefix and are none.
fn named(text: &str) -> BTreeSet<&str> {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c| !part(c));
    let ours = words.filter(|word| word.starts_with("hookledger_"));
    let crates = ["shared", "ingest", "worker", "dev", "tests"];
    let is_crate = |word: &&str| crates.iter().any(|name| word.ends_with(name));
    ours.filter(|word| !is_crate(word)).collect()
}

#[test]
fn a_document_names_no_metric_that_does_not_exist() {
    let existing = existing();
    for file in tree::files().iter().filter(|file| file.is_markdown()) {
        for name in named(&file.text) {
            // A histogram is scraped under three names.
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            let known = existing.contains(name) || base.is_some_and(|base| existing.contains(base));
            assert!(known, "{}: {name}", file.path);
        }
    }
}

#[test]
fn a_metric_is_told_from_a_crate() {
    let text = "`hookledger_a_total{x=\"y\"}` in hookledger_shared, hookledger-worker";
    assert_eq!(named(text), BTreeSet::from(["hookledger_a_total"]));
}
