//! What ingest accepts, and what it refuses under which key.

use std::time::Duration;

use super::super::Provider;
use super::{LEAST, assert_faults, ingest, source_but, source_with};

#[test]
fn the_least_configuration_gets_the_documented_defaults() {
    let settings = ingest(LEAST).unwrap();
    assert_eq!(settings.mongodb.database, "hookledger");
    assert_eq!(settings.bind, "127.0.0.1:8080".parse().unwrap());
    assert_eq!(settings.ops_bind, "127.0.0.1:8081".parse().unwrap());
    assert_eq!(settings.max_body_bytes, 1_048_576);
    assert_eq!(settings.commit_timeout, Duration::from_secs(10));
    let [source] = settings.sources.as_slice() else {
        panic!("one source")
    };
    assert_eq!(
        (source.name.as_str(), source.provider),
        ("stripe", Provider::Stripe)
    );
    assert_eq!(source.secrets[0].expose(), "whsec_stripe_of_tests");
    assert_eq!(source.tolerance, Duration::from_secs(300));
    assert!(!source.livemode);
    assert_eq!(source.scope, "default");
    assert_eq!(source.commit_timeout, settings.commit_timeout);
    assert_eq!(source.max_body_bytes, settings.max_body_bytes);
    assert_eq!(source.public_url, None);
}

#[test]
fn a_source_goes_its_own_way_where_it_says_so() {
    let own = "tolerance_s = 60\nscope = \"eu\"\ncommit_timeout_ms = 4000\n\
               max_body_bytes = 8388608\npublic_url = \"https://a.example/webhooks/stripe\"";
    let settings = ingest(&source_with(own)).unwrap();
    let source = &settings.sources[0];
    assert_eq!(source.tolerance, Duration::from_secs(60));
    assert_eq!(source.scope, "eu");
    assert_eq!(source.commit_timeout, Duration::from_secs(4));
    assert_eq!(source.max_body_bytes, 8_388_608);
    assert_eq!(
        source.public_url.as_ref().unwrap().host_str(),
        Some("a.example")
    );
}

#[test]
fn every_wrong_value_of_ingest_is_refused_under_its_key() {
    for (line, key, part) in [
        (
            "bind = \"localhost:8080\"",
            "ingest.bind",
            "an address and a port",
        ),
        ("bind = 8080", "ingest.bind", "must be text"),
        ("ops_bind = \"\"", "ingest.ops_bind", "is empty"),
        (
            "ops_bind = \"127.0.0.1:8080\"",
            "ingest.ops_bind",
            "must differ",
        ),
        (
            "max_body_bytes = 1023",
            "ingest.max_body_bytes",
            "1024 to 8388608 bytes",
        ),
        (
            "max_body_bytes = 8388609",
            "ingest.max_body_bytes",
            "1024 to 8388608 bytes",
        ),
        (
            "max_body_bytes = 2048.5",
            "ingest.max_body_bytes",
            "a whole number",
        ),
        (
            "commit_timeout_ms = 1499",
            "ingest.commit_timeout_ms",
            "1499 is not within 1500",
        ),
        (
            "commit_timeout_ms = true",
            "ingest.commit_timeout_ms",
            "a whole number",
        ),
        (
            "bnid = \"127.0.0.1:1\"",
            "ingest.bnid",
            "did you mean bind?",
        ),
    ] {
        assert_faults(
            ingest(&format!("{LEAST}\n[ingest]\n{line}")),
            &[(key, part)],
        );
    }
}

#[test]
fn every_wrong_value_of_a_source_is_refused_under_its_key() {
    for (line, key, part) in [
        (
            "tolerance_s = 0",
            "source[0].tolerance_s",
            "0 is not within 1 to 3600 s",
        ),
        ("tolerance_s = 3601", "source[0].tolerance_s", "not within"),
        ("tolerance_s = -1", "source[0].tolerance_s", "not within"),
        ("scope = \"a:b\"", "source[0].scope", "letters, digits"),
        (
            "commit_timeout_ms = 1499",
            "source[0].commit_timeout_ms",
            "not within 1500",
        ),
        (
            "max_body_bytes = 8388609",
            "source[0].max_body_bytes",
            "not within",
        ),
        (
            "public_url = \"hooks\"",
            "source[0].public_url",
            "a whole address",
        ),
        (
            "public_url = \"ftp://a\"",
            "source[0].public_url",
            "https://",
        ),
        (
            "public_url = \"https://u:p@a\"",
            "source[0].public_url",
            "user or password",
        ),
        (
            "tolerance = 5",
            "source[0].tolerance",
            "did you mean tolerance_s?",
        ),
    ] {
        assert_faults(ingest(&source_with(line)), &[(key, part)]);
    }
}

#[test]
fn a_source_without_a_right_name_and_provider_is_refused_under_the_key() {
    for (old, new, key, part) in [
        ("name = \"stripe\"", "", "source[0].name", "is missing"),
        (
            "name = \"stripe\"",
            "name = \"Stripe\"",
            "source[0].name",
            "a-z, 0-9",
        ),
        (
            "name = \"stripe\"",
            "name = \"a/b\"",
            "source[0].name",
            "a-z, 0-9",
        ),
        (
            "provider = \"stripe\"",
            "",
            "source[0].provider",
            "is missing",
        ),
        (
            "provider = \"stripe\"",
            "provider = \"slack\"",
            "source[0].provider",
            "not yet supported",
        ),
        (
            "provider = \"stripe\"",
            "provider = \"stirpe\"",
            "source[0].provider",
            "mean stripe?",
        ),
    ] {
        assert_faults(ingest(&source_but(old, new)), &[(key, part)]);
    }
    let long = format!("name = \"{}\"", "a".repeat(65));
    let read = ingest(&source_but("name = \"stripe\"", &long));
    assert_faults(read, &[("source[0].name", "1 to 64")]);
}

#[test]
fn a_source_without_right_secrets_and_livemode_is_refused_under_the_key() {
    for (old, new, key, part) in [
        (
            "[\"env:STRIPE\"]",
            "[]",
            "source[0].secrets",
            "at least one",
        ),
        (
            "secrets = [\"env:STRIPE\"]",
            "",
            "source[0].secrets",
            "at least one",
        ),
        (
            "[\"env:STRIPE\"]",
            "\"env:STRIPE\"",
            "source[0].secrets",
            "a list",
        ),
        (
            "[\"env:STRIPE\"]",
            "[\"env:STRIPE\", 7]",
            "source[0].secrets[1]",
            "must be text",
        ),
        (
            "livemode = false",
            "",
            "source[0].livemode",
            "must say true or false",
        ),
        (
            "livemode = false",
            "livemode = \"no\"",
            "source[0].livemode",
            "true or false",
        ),
    ] {
        assert_faults(ingest(&source_but(old, new)), &[(key, part)]);
    }
}

#[test]
fn two_sources_never_share_a_name() {
    let second = LEAST.split_once("[[source]]").unwrap().1;
    let read = ingest(&format!("{LEAST}\n[[source]]{second}"));
    assert_faults(read, &[("source[1].name", "\"stripe\" is taken")]);
}

#[test]
fn ingest_without_a_source_is_refused() {
    let read = ingest("[mongodb]\nuri = \"mongodb://127.0.0.1\"");
    assert_faults(read, &[("source", "at least one [[source]]")]);
}

#[test]
fn the_ledgers_place_is_never_guessed() {
    for (line, part) in [
        ("", "is missing"),
        (
            "uri = \"postgres://127.0.0.1\"",
            "no MongoDB connection string",
        ),
        (
            "uri = \"mongodb://u:p@ss@a/\"",
            "no MongoDB connection string",
        ),
        ("uri = \"env:NOWHERE\"", "is not set"),
    ] {
        let text = source_but("uri = \"mongodb://127.0.0.1/?replicaSet=rs0\"", line);
        assert_faults(ingest(&text), &[("mongodb.uri", part)]);
    }
    let long = "d".repeat(64);
    for name in ["a b", "a.b", "a$", long.as_str()] {
        let text = source_but("[[source]]", &format!("database = \"{name}\"\n[[source]]"));
        assert_faults(ingest(&text), &[("mongodb.database", "up to 63 bytes")]);
    }
}

#[test]
fn all_faults_are_reported_at_once() {
    let text = r#"
        lease_ms = 5
        [mongodb]
        uri = "nothing"
        database = "a b"
        [ingest]
        bind = "here"
        max_body_bytes = 1
        [[source]]
        name = "Stripe"
        provider = "strip"
        secrets = ["whsec_inline", "env:NOWHERE"]
        tolerance_s = 0
        [[source]]
        name = "stripe"
        provider = "stripe"
        secrets = ["env:STRIPE"]
        [[sink]]
        nmae = "app"
    "#;
    assert_faults(
        ingest(text),
        &[
            ("lease_ms", "known here: mongodb"),
            ("sink[0].nmae", "did you mean name?"),
            ("mongodb.uri", "connection string"),
            ("mongodb.database", "63 bytes"),
            ("ingest.bind", "an address"),
            ("ingest.max_body_bytes", "not within"),
            ("source[0].name", "a-z"),
            ("source[0].provider", "did you mean stripe?"),
            ("source[0].secrets[0]", "must be a reference"),
            ("source[0].secrets[1]", "env:NOWHERE"),
            ("source[0].tolerance_s", "not within"),
            ("source[1].livemode", "true or false"),
        ],
    );
}
