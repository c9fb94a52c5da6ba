//! The official libraries are the judge: every vector that they made and judged, through
//! the HTTP surface at its own time. Where they disagree, our policy is pinned by name, and
//! docs/providers.md has the same table.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hookledger_shared::config::Secret;
use serde::Deserialize;
use serde_json::Value;

use crate::rig::{NOW, Rig, headers, source};

const VECTORS: &str = include_str!("../../../tests/fixtures/stripe/vectors.json");
const PAGE: &str = include_str!("../../../docs/providers.md");

/// Where Stripe's libraries disagree: whether we take it.
const SPLIT: [(&str, bool); 22] = [
    ("bom_body_raw_bytes_signed", true),
    ("duplicate_header_second_valid", false),
    ("element_without_equals", false),
    ("empty_v1_then_valid", true),
    ("future_301", false),
    ("future_one_year", false),
    ("non_utf8_body_raw_bytes_signed", true),
    ("non_utf8_body_replacement_signed", false),
    ("space_after_comma", false),
    ("timestamp_decimal_point", false),
    ("timestamp_huge_20_digits", false),
    ("timestamp_i64_max", false),
    ("timestamp_leading_space_normalised_signed", false),
    ("timestamp_leading_zero_normalised_signed", false),
    ("timestamp_milliseconds", false),
    ("timestamp_nan_text_signed", false),
    ("timestamp_trailing_garbage", false),
    ("trailing_comma", false),
    ("two_t_fresh_first_stale_last", false),
    ("two_t_stale_first_fresh_last", false),
    ("uppercase_hex", false),
    ("v1_with_trailing_equals", false),
];

/// Where they agree and we still differ.
const EXCEPTIONS: [(&str, bool); 3] = [
    ("duplicate_header_first_valid", false),
    // HTTP strips white space around a value before anyone sees it.
    ("space_before_t", true),
    ("timestamp_plus_sign_normalised_signed", false),
];

#[derive(Deserialize)]
struct Vector {
    name: String,
    secrets: Vec<String>,
    headers: Vec<(String, String)>,
    body_base64: Option<String>,
    body_repeat: Option<Repeat>,
    now: i64,
    expect: Value,
    agreement: String,
}

#[derive(Deserialize)]
struct Repeat {
    byte: u8,
    count: usize,
}

impl Vector {
    fn body(&self) -> Vec<u8> {
        match (&self.body_base64, &self.body_repeat) {
            (Some(text), _) => STANDARD.decode(text).unwrap(),
            (None, Some(repeat)) => vec![repeat.byte; repeat.count],
            (None, None) => Vec::new(),
        }
    }

    /// Whether we take it.
    fn is_accepted(&self) -> bool {
        let table = SPLIT.iter().chain(&EXCEPTIONS);
        if let Some((_, accepted)) = table.clone().find(|(name, _)| *name == self.name) {
            return *accepted;
        }
        assert_eq!(
            self.agreement, "unanimous",
            "{}: choose a policy",
            self.name
        );
        self.expect == "accept"
    }
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(VECTORS).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_vector_of_the_official_libraries_is_answered_as_our_policy_says() {
    let vectors = vectors();
    assert!(vectors.len() > 30);
    let sources = vectors.iter().map(|vector| {
        let mut source = source(&vector.name);
        source.secrets = vector.secrets.iter().map(Secret::new).collect();
        source.max_body_bytes = 8 * 1_024 * 1_024;
        source
    });
    let rig = Rig::with(sources.collect()).await;
    for vector in &vectors {
        assert_eq!(vector.now, NOW, "{}", vector.name);
        let pairs: Vec<_> = vector
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let reply = rig.post(&vector.name, headers(&pairs), vector.body()).await;
        let rows = rig.rows(&vector.name).await;
        if vector.is_accepted() {
            assert!(reply.is_stored(), "{}: {reply:?}", vector.name);
            assert_eq!(rows.len(), 1, "{}", vector.name);
            assert_eq!(stored_body(&rows[0]), vector.body(), "{}", vector.name);
        } else {
            assert_eq!(reply.status, 400, "{}: {reply:?}", vector.name);
            assert!(rows.is_empty(), "{}: the ledger was touched", vector.name);
        }
    }
    rig.running.stop().await.unwrap();
}

fn stored_body(row: &bson::Document) -> &[u8] {
    match row.get_str("body") {
        Ok(text) => text.as_bytes(),
        Err(_) => row.get_binary_generic("body").unwrap(),
    }
}

#[test]
fn every_split_vector_has_a_policy_and_the_page_says_the_same() {
    let split: BTreeSet<_> = vectors()
        .into_iter()
        .filter(|vector| vector.agreement == "split")
        .map(|vector| vector.name)
        .collect();
    let table: BTreeMap<_, _> = SPLIT.into_iter().chain(EXCEPTIONS).collect();
    for name in &split {
        assert!(table.contains_key(name.as_str()), "{name} has no policy");
    }
    for (name, accepted) in table {
        let verdict = if accepted { "accept" } else { "refuse" };
        let row = format!("| `{name}` | {verdict} |");
        assert!(PAGE.contains(&row), "docs/providers.md lacks {row}");
    }
}
