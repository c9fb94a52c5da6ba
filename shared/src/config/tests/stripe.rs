//! `[stripe]`: whom the worker asks, and what it may not be told.

use super::super::{Environment, Faults, Raw, WorkerSettings};
use super::{LEAST, assert_faults};

const TEST_KEY: &str = "sk_test_0123456789";

/// Reads the worker with this area and `KEY` in the environment.
fn read(area: &str, key: &str) -> Result<WorkerSettings, Faults> {
    let secrets = [("STRIPE", "whsec_stripe_of_tests"), ("KEY", key)];
    let environment = Environment::from_pairs(secrets);
    let text = format!("{LEAST}\n[stripe]\n{area}");
    WorkerSettings::read(&Raw::from_text(&text, &environment)?, &environment)
}

#[test]
fn without_a_key_nobody_is_ever_asked() {
    assert!(read("", TEST_KEY).unwrap().stripe.is_none());
}

#[test]
fn a_key_knows_its_mode_and_asks_stripe_unless_told_otherwise() {
    for (key, livemode) in [
        (TEST_KEY, false),
        ("rk_test_0123456789", false),
        ("sk_live_0123456789", true),
        ("rk_live_0123456789", true),
    ] {
        let stripe = read("api_key = \"env:KEY\"", key).unwrap().stripe.unwrap();
        assert_eq!(stripe.livemode, livemode, "{key}");
        assert_eq!(stripe.key.expose(), key);
        assert_eq!(stripe.base.as_str(), "https://api.stripe.com/");
    }
    for base in [
        "http://127.0.0.1:12111",
        "http://localhost:1",
        "https://proxy.example/a",
    ] {
        let area = format!("api_key = \"env:KEY\"\napi_base = \"{base}\"");
        assert!(read(&area, TEST_KEY).unwrap().stripe.is_some(), "{base}");
    }
}

#[test]
fn what_can_read_nothing_is_refused_and_never_repeated() {
    for key in [
        "pk_test_0123456789",
        "sk_org_live_0123",
        "sk_test_short",
        "sk_test_0123456789 x",
    ] {
        let refused = read("api_key = \"env:KEY\"", key);
        assert!(!refused.as_ref().unwrap_err().to_string().contains("0123"));
        assert_faults(refused, &[("stripe.api_key", "a secret or restricted key")]);
    }
    let written = read("api_key = \"sk_test_0123456789\"", TEST_KEY);
    assert_faults(written, &[("stripe.api_key", "must be a reference")]);
    let unset = read("api_key = \"env:NOWHERE\"", TEST_KEY);
    assert_faults(unset, &[("stripe.api_key", "is not set")]);
}

#[test]
fn every_fault_is_told_at_once_under_its_key() {
    for (base, part) in [
        ("http://api.stripe.com", "must begin with https://"),
        ("ftp://127.0.0.1", "must begin with https://"),
        ("https://a:b@api.stripe.com", "user or password"),
        ("https://api.stripe.com?a=b", "query"),
        ("api.stripe.com", "a whole address"),
    ] {
        let area = format!("api_key = \"env:NOWHERE\"\napi_base = \"{base}\"");
        let faults = [("stripe.api_base", part), ("stripe.api_key", "is not set")];
        assert_faults(read(&area, TEST_KEY), &faults);
    }
    let alone = read("api_base = \"https://api.stripe.com\"", TEST_KEY);
    assert_faults(alone, &[("stripe.api_key", "is missing")]);
    let misspelt = read("api_kee = \"env:KEY\"", TEST_KEY);
    assert_faults(misspelt, &[("stripe.api_kee", "did you mean api_key?")]);
}
