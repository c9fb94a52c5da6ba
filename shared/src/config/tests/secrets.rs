//! Secrets: where they may come from, and that they never show.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::super::{Environment, IngestSettings, Raw, Secret, WorkerSettings, show};
use super::{LEAST, WHSEC, assert_faults, source_but};

/// Reads ingest with `STRIPE` as `value`.
fn with_value(value: impl Into<OsString>) -> Result<IngestSettings, super::Faults> {
    let environment = Environment::from_pairs([("STRIPE", value.into())]);
    IngestSettings::read(&Raw::from_text(LEAST, &environment).unwrap(), &environment)
}

/// Reads ingest with the secret in a file of `bytes`.
fn with_file(bytes: &[u8]) -> Result<IngestSettings, super::Faults> {
    let name = format!(
        "hookledger-secret-{}-{:x}",
        std::process::id(),
        fastrand::u64(..)
    );
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    let text = source_but("env:STRIPE", &format!("file:{}", path.display()));
    let environment = super::environment(&[]);
    let read = IngestSettings::read(&Raw::from_text(&text, &environment).unwrap(), &environment);
    std::fs::remove_file(&path).unwrap();
    read
}

#[test]
fn a_secret_that_can_be_guessed_is_refused_by_key() {
    let refused = with_value("fifteen-bytes-x");
    assert_faults(refused, &[("source[0].secrets[0]", "fewer than 16 bytes")]);
}

#[test]
fn one_newline_at_the_end_is_nobodys_secret() {
    for written in [
        "s3cret-of-16-bytes",
        "s3cret-of-16-bytes\n",
        "s3cret-of-16-bytes\r\n",
    ] {
        assert_eq!(
            with_value(written).unwrap().sources[0].secrets[0].expose(),
            "s3cret-of-16-bytes"
        );
        let settings = with_file(written.as_bytes()).unwrap();
        assert_eq!(
            settings.sources[0].secrets[0].expose(),
            "s3cret-of-16-bytes"
        );
    }
}

#[test]
fn what_is_no_secret_is_refused_by_key_and_never_by_value() {
    let key = "source[0].secrets[0]";
    for (written, part) in [
        ("", "is empty"),
        ("\n", "is empty"),
        (" s3cret-of-16-bytes", "white space"),
        ("s3cret-of-16-bytes ", "white space"),
        ("s3cret-of-16-bytes\n\n", "white space"),
    ] {
        assert_faults(with_value(written), &[(key, part)]);
        assert_faults(with_file(written.as_bytes()), &[(key, part)]);
        assert!(
            !with_value(written)
                .unwrap_err()
                .to_string()
                .contains("s3cret-of-16-bytes")
        );
    }
    assert_faults(
        with_value(OsString::from_vec(vec![b's', 0xff])),
        &[(key, "not UTF-8")],
    );
    assert_faults(with_file(&[b's', 0xff]), &[(key, "not UTF-8")]);
    assert_faults(with_file(&vec![b's'; 65_537]), &[(key, "longer than")]);
    let read = super::ingest(&source_but("env:STRIPE", "file:/nowhere/at/all"));
    assert_faults(read, &[(key, "can't be read")]);
}

#[test]
fn a_secret_written_where_a_reference_belongs_is_not_repeated() {
    for written in ["whsec_inline", "env:whsec_inline", "file:whsec_inline"] {
        let text = source_but("env:STRIPE", written);
        let faults = super::ingest(&text).unwrap_err();
        assert!(
            faults.to_string().starts_with("source[0].secrets[0]: "),
            "{faults}"
        );
        assert!(!faults.to_string().contains("whsec_inline"), "{faults}");
        assert!(
            !format!("{faults:?}").contains("whsec_inline"),
            "{faults:?}"
        );
        assert!(!show(&super::raw(&text)).contains("whsec_inline"));
    }
}

/// Everything that holds something secret, each with `hunter2` in it.
const SECRETIVE: &str = r#"
[mongodb]
uri = "mongodb://admin:hunter2@127.0.0.1/?replicaSet=rs0"
[[source]]
name = "stripe"
provider = "stripe"
secrets = ["env:STRIPE", "file:/run/secrets/stripe"]
livemode = false
[worker]
ops_token = "env:TOKEN"
[stripe]
api_key = "env:API"
api_base = "https://stripe.example.com/proxy"
[[sink]]
name = "app"
kind = "http"
url = "https://app.example.com/hooks?token=hunter2"
secrets = ["env:APP"]
[[route]]
topic = "*"
sinks = ["app"]
"#;

#[test]
fn secrets_never_appear_in_debug_display_or_show() {
    let environment = Environment::from_pairs([
        ("STRIPE", "hunter2-hunter2-hunter2"),
        ("TOKEN", "hunter2-hunter2-hunter2"),
        ("API", "sk_test_hunter2-hunter2"),
        ("APP", WHSEC),
    ]);
    let raw = Raw::from_text(SECRETIVE, &environment).unwrap();
    let worker = WorkerSettings::read(&raw, &environment).unwrap();
    let least = source_but("mongodb://127.0.0.1/", "mongodb://admin:hunter2@127.0.0.1/");
    let least = Raw::from_text(&least, &environment).unwrap();
    let ingest = IngestSettings::read(&least, &environment).unwrap();
    let secret = Secret::new("hunter2");
    for text in [
        show(&raw),
        show(&least),
        format!("{raw:?} {environment:?} {secret:?} {secret}"),
        format!("{ingest:?}"),
        format!("{worker:?}"),
    ] {
        assert!(!text.contains("hunter2") && !text.contains(WHSEC), "{text}");
    }
}

#[test]
fn what_is_shown_is_toml_with_the_references_left_in() {
    let shown = show(&super::raw(SECRETIVE));
    for part in [
        "# no file, 0 set by the environment\n",
        "uri = \"mongodb://***@127.0.0.1/?replicaSet=rs0\"",
        "secrets = [\"env:STRIPE\", \"file:/run/secrets/stripe\"]",
        "ops_token = \"env:TOKEN\"",
        "api_key = \"env:API\"",
        "api_base = \"https://stripe.example.com/proxy\"",
        "url = \"https://app.example.com/hooks?***\"",
        "livemode = false",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(shown.parse::<toml::Table>().is_ok(), "{shown}");
}

#[test]
fn wrong_values_show_no_secret_either() {
    let text = "password = \"hunter2\"\n[mongodb]\nuri = [\"hunter2\", 5]\n[stripe]\n\
                api_key = \"hunter2\"\n[worker]\nops_token = { a = \"hunter2\" }\n\
                [[sink]]\nurl = \"hunter2\"\nsecrets = \"hunter2\"";
    let raw = super::raw(text);
    assert!(!show(&raw).contains("hunter2"), "{}", show(&raw));
    let environment = super::environment(&[]);
    let faults = WorkerSettings::read(&raw, &environment).unwrap_err();
    assert!(!faults.to_string().contains("hunter2"), "{faults}");
}

#[test]
fn a_standard_webhooks_key_has_24_to_64_bytes() {
    let key = |text: &str| Secret::new(text).webhook_key();
    assert_eq!(key(WHSEC).unwrap(), b"012345678901234567890123");
    assert_eq!(
        key("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="),
        None,
        "23 bytes"
    );
    assert_eq!(
        key(&format!("whsec_{}", "QUFB".repeat(22))),
        None,
        "66 bytes"
    );
    assert_eq!(key(WHSEC.trim_start_matches("whsec_")), None, "no prefix");
    assert_eq!(key("whsec_***"), None, "no base64");
}
