//! Which file is read, what the environment lays over it, and unknown keys anywhere.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::super::{Environment, FILE_VARIABLE, IngestSettings, Raw, WorkerSettings};
use super::{LEAST, WHSEC, assert_faults, environment};

/// A file of its own for a test, with `text` in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str) -> Self {
        let name = format!(
            "hookledger-config-{}-{:x}.toml",
            std::process::id(),
            fastrand::u64(..)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Ingest with `LEAST` and `pairs` in the environment.
fn overridden(pairs: &[(&str, &str)]) -> Result<IngestSettings, super::Faults> {
    let environment = environment(pairs);
    IngestSettings::read(&Raw::from_text(LEAST, &environment).unwrap(), &environment)
}

#[test]
fn the_documented_sample_loads_without_a_fault() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hookledger.toml");
    let environment = Environment::from_pairs([
        ("STRIPE_WEBHOOK_SECRET", "whsec_test_of_tests"),
        ("APP_WEBHOOK_SECRET", WHSEC),
    ]);
    let raw = Raw::load(Some(&path), &environment).unwrap();
    IngestSettings::read(&raw, &environment).unwrap();
    let worker = WorkerSettings::read(&raw, &environment).unwrap();
    assert_eq!(worker.warnings, Vec::<String>::new());
}

#[test]
fn what_is_commented_out_in_the_sample_loads_too() {
    let sample = include_str!("../../../../hookledger.toml");
    let setting = |text: &str| {
        let name = text.split(" = ").next().unwrap_or_default();
        text.starts_with('[') && text.ends_with(']')
            || text.contains(" = ") && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let uncomment = |line: &'static str| match line.strip_prefix("# ") {
        Some(text) if setting(text) => text,
        _ => line,
    };
    let text: Vec<&str> = sample.lines().map(uncomment).collect();
    let environment = Environment::from_pairs([
        ("STRIPE_WEBHOOK_SECRET", "whsec_test_of_tests"),
        ("APP_WEBHOOK_SECRET", WHSEC),
        ("HOOKLEDGER_OPS_TOKEN", "0123456789abcdef"),
        ("STRIPE_API_KEY", "rk_test_of_the_sample"),
    ]);
    let raw = Raw::from_text(&text.join("\n"), &environment).unwrap();
    let ingest = IngestSettings::read(&raw, &environment).unwrap();
    assert!(ingest.sources[0].public_url.is_some());
    let worker = WorkerSettings::read(&raw, &environment).unwrap();
    assert!(worker.ops_token.is_some());
    assert!(worker.stripe.is_some());
}

#[test]
fn the_argument_goes_before_the_variable() {
    let (named, variable) = (Scratch::new(LEAST), Scratch::new("[ingest]\nbind = 1"));
    let environment = environment(&[(FILE_VARIABLE, variable.0.to_str().unwrap())]);
    let raw = Raw::load(Some(&named.0), &environment).unwrap();
    assert!(IngestSettings::read(&raw, &environment).is_ok());
    let raw = Raw::load(None, &environment).unwrap();
    assert!(IngestSettings::read(&raw, &environment).is_err());
}

#[test]
fn a_named_file_that_is_missing_is_a_fault() {
    let nowhere = "/nowhere/hookledger.toml";
    assert_faults(
        Raw::load(Some(Path::new(nowhere)), &environment(&[])),
        &[(nowhere, "read")],
    );
    let variable = environment(&[(FILE_VARIABLE, nowhere)]);
    assert_faults(Raw::load(None, &variable), &[(nowhere, "read")]);
}

#[test]
fn no_file_at_all_leaves_the_environment() {
    let environment = environment(&[("HOOKLEDGER__MONGODB__URI", "mongodb://a/")]);
    let raw = Raw::load(None, &environment).unwrap();
    assert!(WorkerSettings::read(&raw, &environment).is_ok());
}

#[test]
fn what_is_no_toml_is_named_by_line_and_not_quoted() {
    let text = "[mongodb]\nuri = \"mongodb://u:hunter2@a/\n";
    let file = Scratch::new(text);
    let faults = Raw::load(Some(&file.0), &environment(&[])).unwrap_err();
    assert!(faults.to_string().contains("line 2: "), "{faults}");
    assert!(!faults.to_string().contains("hunter2"), "{faults}");
    let huge = "[worker]\nlease_ms = 99999999999999999999999";
    assert_faults(
        Raw::from_text(huge, &environment(&[])),
        &[("hookledger.toml", "out of range")],
    );
}

#[test]
fn every_scalar_outside_the_lists_can_come_from_the_environment() {
    let settings = overridden(&[
        ("HOOKLEDGER__INGEST__BIND", "0.0.0.0:80"),
        ("HOOKLEDGER__INGEST__MAX_BODY_BYTES", "2048"),
        ("HOOKLEDGER__MONGODB__DATABASE", "123"),
        ("HOOKLEDGER_LOG", "debug"),
        ("HOOKLEDGER_MONGODB_URI", "mongodb://not-a-setting/"),
    ])
    .unwrap();
    assert_eq!(settings.bind, "0.0.0.0:80".parse().unwrap());
    assert_eq!(settings.max_body_bytes, 2_048);
    assert_eq!(settings.mongodb.database, "123");
    assert_eq!(settings.mongodb.uri, "mongodb://127.0.0.1/?replicaSet=rs0");
    let environment = environment(&[
        ("HOOKLEDGER__CATALOGUE__PACK_5__CREDITS", "5"),
        ("HOOKLEDGER__CATALOGUE__PACK_5__AMOUNT", "100"),
        ("HOOKLEDGER__CATALOGUE__PACK_5__CURRENCY", "eur"),
        ("HOOKLEDGER__METADATA__PLAN", "tier"),
    ]);
    let raw = Raw::from_text(LEAST, &environment).unwrap();
    let worker = WorkerSettings::read(&raw, &environment).unwrap();
    assert_eq!(worker.catalogue.get("pack_5").unwrap().credits, 5);
    assert_eq!(worker.metadata.plan, "tier");
}

#[test]
fn a_variable_that_is_no_setting_is_refused_with_its_name() {
    for (name, key, part) in [
        (
            "HOOKLEDGER__INGEST__BNID",
            "ingest.bnid",
            "did you mean bind?",
        ),
        ("HOOKLEDGER__INJEST__BIND", "injest", "did you mean ingest?"),
        ("HOOKLEDGER__INGEST", "ingest", "is a table"),
        (
            "HOOKLEDGER__INGEST__BIND__PORT",
            "ingest.bind.port",
            "holds a value",
        ),
        (
            "HOOKLEDGER__SOURCE__0__NAME",
            "source.0.name",
            "only be set in the file",
        ),
        (
            "HOOKLEDGER__CATALOGUE__P__PRICE",
            "catalogue.p.price",
            "known here: credits",
        ),
        ("HOOKLEDGER__CATALOGUE__P", "catalogue.p", "is a table"),
        (
            "HOOKLEDGER__STRIPE__APY_KEY",
            "stripe.apy_key",
            "did you mean api_key?",
        ),
        ("HOOKLEDGER__FORWARD__X", "forward", "not yet supported"),
        ("HOOKLEDGER__", "", "unknown setting"),
    ] {
        let lines = super::lines(overridden(&[(name, "5")]));
        let found = lines
            .iter()
            .any(|line| line.contains(key) && line.contains(part));
        assert!(found && lines.len() == 1, "{name}: {lines:?}");
    }
}

#[test]
fn a_setting_in_two_spellings_is_refused() {
    let twice = [
        ("HOOKLEDGER__INGEST__MAX_BODY_BYTES", "2048"),
        ("HOOKLEDGER__ingest__max_body_bytes", "4096"),
    ];
    assert_faults(
        overridden(&twice),
        &[("ingest.max_body_bytes", "is set twice")],
    );
}

#[test]
fn a_wrong_value_from_the_environment_is_refused_under_its_key() {
    let read = overridden(&[("HOOKLEDGER__INGEST__MAX_BODY_BYTES", "1MiB")]);
    assert_faults(read, &[("ingest.max_body_bytes", "a whole number")]);
    let bytes = OsString::from_vec(vec![0xff]);
    let pairs = [
        ("HOOKLEDGER__INGEST__BIND", bytes),
        ("STRIPE", "whsec_stripe_of_tests".into()),
    ];
    let environment = Environment::from_pairs(pairs);
    let raw = Raw::from_text(LEAST, &environment).unwrap();
    let read = IngestSettings::read(&raw, &environment);
    assert_faults(read, &[("ingest.bind", "not UTF-8")]);
}

#[test]
fn an_unknown_key_is_found_at_any_depth() {
    for (area, key, part) in [
        ("[injest]", "injest", "did you mean ingest?"),
        ("[mongodb.tls]", "mongodb.tls", "known here: uri, database"),
        (
            "[[sink]]\nurll = \"x\"",
            "sink[0].urll",
            "did you mean url?",
        ),
        (
            "[[route]]\n[[route]]\ntopics = [\"a\"]",
            "route[1].topics",
            "did you mean topic?",
        ),
        (
            "[catalogue.a]\nprize = 1",
            "catalogue.a.prize",
            "known here",
        ),
        (
            "[metadata]\nuserid = \"a\"",
            "metadata.userid",
            "did you mean user_id?",
        ),
    ] {
        let text = format!("{LEAST}\n{area}");
        let environment = environment(&[]);
        let raw = Raw::from_text(&text, &environment).unwrap();
        // Both processes refuse what belongs to the other, too.
        for lines in [
            super::lines(IngestSettings::read(&raw, &environment)),
            super::lines(WorkerSettings::read(&raw, &environment)),
        ] {
            let found = lines
                .iter()
                .any(|line| line.starts_with(key) && line.contains(part));
            assert!(found, "{key}: {part} in {lines:?}");
        }
    }
}

#[test]
fn a_table_of_the_wrong_shape_is_refused() {
    for (text, key, part) in [
        ("ingest = 5", "ingest", "must be a table"),
        ("source = 5", "source", "must be a list of tables"),
        ("source = [5]", "source[0]", "must be a table"),
        ("catalogue = []", "catalogue", "must be a table"),
        ("catalogue = { a = 5 }", "catalogue.a", "must be a table"),
        (
            "[sink]\nname = \"a\"",
            "sink",
            "must be a list of tables, [[sink]]",
        ),
    ] {
        let environment = environment(&[]);
        let raw = Raw::from_text(text, &environment).unwrap();
        let lines = super::lines(WorkerSettings::read(&raw, &environment));
        let line = lines
            .iter()
            .find(|line| line.starts_with(&format!("{key}: ")));
        assert!(
            line.is_some_and(|line| line.contains(part)),
            "{key}: {part} in {lines:?}"
        );
    }
}
