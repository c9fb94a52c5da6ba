//! What the worker accepts, and what it refuses under which key.

use std::time::Duration;

use super::super::{MetadataNames, Provider, SinkKind, SourcePin, TOPICS};
use super::{LEAST, assert_faults, lines, source_but, worker};

fn with(area: &str) -> String {
    format!("{LEAST}\n{area}")
}

#[test]
fn the_least_configuration_gets_the_documented_defaults() {
    let settings = worker(LEAST).unwrap();
    assert_eq!(settings.ops_bind, "127.0.0.1:9090".parse().unwrap());
    assert!(settings.ops_token.is_none());
    assert_eq!(settings.concurrency, 8);
    assert_eq!(settings.lease, Duration::from_secs(30));
    assert_eq!(settings.max_attempts, 5);
    assert_eq!(settings.settle, Duration::from_secs(2));
    assert_eq!(settings.retention, Duration::from_secs(90 * 86_400));
    assert_eq!(settings.metadata, MetadataNames::default());
    assert!(settings.catalogue.get("pack_100").is_none());
}

#[test]
fn the_worker_needs_no_secret_of_a_source() {
    let settings = worker(&source_but("env:STRIPE", "env:ONLY_INGEST_HAS_IT")).unwrap();
    let pin = SourcePin {
        name: "stripe".to_owned(),
        provider: Provider::Stripe,
        livemode: false,
    };
    assert_eq!(settings.sources, [pin]);
}

#[test]
fn a_fault_of_a_source_is_the_workers_too() {
    let read = worker(&source_but("livemode = false", ""));
    assert_faults(read, &[("source[0].livemode", "true or false")]);
}

#[test]
fn without_sinks_and_routes_everything_goes_to_the_log_with_a_warning() {
    let settings = worker(LEAST).unwrap();
    assert!(matches!(settings.sinks.as_slice(), [sink] if matches!(sink.kind, SinkKind::Log)));
    for topic in TOPICS {
        assert_eq!(settings.routing.destinations(topic), ["log"]);
    }
    assert!(matches!(settings.warnings.as_slice(), [one] if one.contains("the log")));
}

#[test]
fn every_wrong_number_of_the_worker_is_refused_under_its_key() {
    for (line, key, part) in [
        (
            "ops_bind = \"9090\"",
            "worker.ops_bind",
            "an address and a port",
        ),
        (
            "concurrency = 0",
            "worker.concurrency",
            "0 is not within 1 to 256",
        ),
        ("concurrency = 257", "worker.concurrency", "not within"),
        (
            "lease_ms = 999",
            "worker.lease_ms",
            "999 is not within 1000 to 120000 ms",
        ),
        ("lease_ms = 120001", "worker.lease_ms", "not within"),
        (
            "max_attempts = 0",
            "worker.max_attempts",
            "not within 1 to 100",
        ),
        (
            "settle_ms = -1",
            "worker.settle_ms",
            "not within 0 to 300000 ms",
        ),
        ("settle_ms = \"soon\"", "worker.settle_ms", "a whole number"),
        (
            "retention_days = 34",
            "worker.retention_days",
            "34 is not within 35 to 3650 days",
        ),
        (
            "leese_ms = 5000",
            "worker.leese_ms",
            "did you mean lease_ms?",
        ),
    ] {
        assert_faults(worker(&with(&format!("[worker]\n{line}"))), &[(key, part)]);
    }
}

#[test]
fn operators_prove_themselves_where_others_can_connect() {
    let open = "[worker]\nops_bind = \"0.0.0.0:9090\"\n";
    assert_faults(worker(&with(open)), &[("worker.ops_token", "is missing")]);
    let settings = worker(&with(&format!("{open}ops_token = \"env:TOKEN\""))).unwrap();
    assert_eq!(settings.ops_token.unwrap().expose(), "0123456789abcdef");
    for (reference, part) in [
        ("env:NOWHERE", "is not set"),
        ("0123456789abcdef", "must be a reference"),
    ] {
        let read = worker(&with(&format!("{open}ops_token = \"{reference}\"")));
        assert_faults(read, &[("worker.ops_token", part)]);
    }
}

#[test]
fn a_pack_is_worth_what_the_catalogue_says() {
    let area = "[catalogue.pack_100]\ncredits = 100\namount = 1900\ncurrency = \"usd\"";
    let settings = worker(&with(area)).unwrap();
    let pack = settings.catalogue.get("pack_100").unwrap();
    assert_eq!(
        (pack.credits, pack.amount, pack.currency.as_str()),
        (100, 1_900, "usd")
    );
    for (old, new, key, part) in [
        (
            "credits = 100",
            "",
            "catalogue.pack_100.credits",
            "is missing",
        ),
        (
            "credits = 100",
            "credits = 0",
            "catalogue.pack_100.credits",
            "not within 1",
        ),
        (
            "amount = 1900",
            "",
            "catalogue.pack_100.amount",
            "is missing",
        ),
        (
            "amount = 1900",
            "amount = -1",
            "catalogue.pack_100.amount",
            "not within 0",
        ),
        (
            "amount = 1900",
            "amount = 19.00",
            "catalogue.pack_100.amount",
            "a whole number",
        ),
        (
            "\"usd\"",
            "\"USD\"",
            "catalogue.pack_100.currency",
            "lower-case",
        ),
        (
            "currency = \"usd\"",
            "",
            "catalogue.pack_100.currency",
            "is missing",
        ),
        (
            "credits",
            "credit",
            "catalogue.pack_100.credit",
            "did you mean credits?",
        ),
    ] {
        let lines = lines(worker(&with(&area.replace(old, new))));
        let line = lines
            .iter()
            .find(|line| line.starts_with(&format!("{key}: ")));
        assert!(
            line.is_some_and(|line| line.contains(part)),
            "{key}: {part} in {lines:?}"
        );
    }
}

#[test]
fn metadata_keys_are_the_products_own_and_distinct() {
    let settings = worker(&with("[metadata]\nuser_id = \"account\"")).unwrap();
    assert_eq!(settings.metadata.user_id, "account");
    assert_eq!(settings.metadata.plan, "plan");
    let long = format!("sku = \"{}\"", "k".repeat(41));
    for (line, key, part) in [
        ("user_id = \"plan\"", "metadata.plan", "\"plan\" is taken"),
        (
            "quantity = \"a[b]\"",
            "metadata.quantity",
            "without [ and ]",
        ),
        ("purchase_id = 5", "metadata.purchase_id", "must be text"),
        ("plan = \"\"", "metadata.plan", "is empty"),
        (long.as_str(), "metadata.sku", "1 to 40 characters"),
    ] {
        assert_faults(
            worker(&with(&format!("[metadata]\n{line}"))),
            &[(key, part)],
        );
    }
}

#[test]
fn what_comes_later_is_refused_never_ignored() {
    let forward = "[[forward]]\nsource = \"stripe\"";
    assert_faults(worker(&with(forward)), &[("forward", "not yet supported")]);
}

#[test]
fn all_faults_are_reported_at_once() {
    let area = "[worker]\nlease_ms = 1\nretention_days = 1\nunheard = 1\n[[sink]]\nname = \"a\"\n\
                kind = \"http\"\n[[route]]\ntopic = \"nope\"\nsinks = [\"b\"]";
    assert_faults(
        worker(&with(area)),
        &[
            ("worker.unheard", "known here"),
            ("worker.lease_ms", "not within"),
            ("worker.retention_days", "not within"),
            ("sink[0].url", "is missing"),
            ("sink[0].secrets", "at least one"),
            ("route[0].topic", "unknown topic"),
            ("route[0].sinks[0]", "unknown sink"),
            ("route", "nothing routes"),
        ],
    );
}
