//! Promises of the configuration as a whole: what loads, what is refused and under which
//! key, and what never shows.

mod delivery;
mod ingest;
mod loading;
mod secrets;
mod settings;
mod stripe;
mod worker;

use super::{Environment, Faults, IngestSettings, Raw, WorkerSettings};

/// 24 bytes of a key nobody uses.
const WHSEC: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";

/// The least that both processes accept.
const LEAST: &str = r#"
[mongodb]
uri = "mongodb://127.0.0.1/?replicaSet=rs0"
[[source]]
name = "stripe"
provider = "stripe"
secrets = ["env:STRIPE"]
livemode = false
"#;

/// An environment with a secret for each reference in these tests, and `more`.
fn environment(more: &[(&str, &str)]) -> Environment {
    let secrets = [
        ("STRIPE", "whsec_stripe_of_tests"),
        ("APP", WHSEC),
        ("TOKEN", "0123456789abcdef"),
    ];
    Environment::from_pairs(secrets.iter().chain(more).copied())
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text, &environment(&[])).unwrap()
}

fn ingest(text: &str) -> Result<IngestSettings, Faults> {
    IngestSettings::read(&raw(text), &environment(&[]))
}

fn worker(text: &str) -> Result<WorkerSettings, Faults> {
    WorkerSettings::read(&raw(text), &environment(&[]))
}

/// The lines of what was refused.
fn lines<T: std::fmt::Debug>(read: Result<T, Faults>) -> Vec<String> {
    read.unwrap_err()
        .to_string()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Asserts that exactly the given lines came, each given as its key and a part of the rest.
#[track_caller]
fn assert_faults<T: std::fmt::Debug>(read: Result<T, Faults>, expected: &[(&str, &str)]) {
    let lines = lines(read);
    for (key, part) in expected {
        let is_it = |line: &&String| {
            line.strip_prefix(&format!("{key}: "))
                .is_some_and(|rest| rest.contains(part))
        };
        assert!(
            lines.iter().any(|line| is_it(&line)),
            "no \"{key}: …{part}…\" in {lines:#?}"
        );
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
}

/// `LEAST` with `lines` added to its `[[source]]`, the area that it ends with.
fn source_with(lines: &str) -> String {
    format!("{LEAST}{lines}\n")
}

/// `LEAST` with `line` of its `[[source]]` replaced.
fn source_but(old: &str, new: &str) -> String {
    assert!(LEAST.contains(old), "{old}");
    LEAST.replace(old, new)
}
