//! Sinks and routes: what is accepted, and what is refused under which key.

use super::super::{SinkKind, TOPICS};
use super::{LEAST, assert_faults, lines, worker};

const SINK: &str = r#"
[[sink]]
name = "app"
kind = "http"
url = "https://app.example.com/hooks"
secrets = ["env:APP"]
"#;
const ROUTE: &str = "[[route]]\ntopic = \"*\"\nsinks = [\"app\"]\n";

fn with(area: &str) -> String {
    format!("{LEAST}\n{area}")
}

#[test]
fn a_named_topic_goes_before_the_star() {
    let log = "[[sink]]\nname = \"log\"\nkind = \"log\"\n";
    let named = "[[route]]\ntopic = \"welcome\"\nsinks = [\"log\", \"app\"]\n";
    let settings = worker(&with(&format!("{SINK}{log}{ROUTE}{named}"))).unwrap();
    assert_eq!(settings.routing.destinations("welcome"), ["log", "app"]);
    assert_eq!(settings.routing.destinations("email.receipt"), ["app"]);
    assert!(settings.warnings.is_empty());
}

#[test]
fn a_sink_that_nothing_goes_to_is_warned_of() {
    let spare = "[[sink]]\nname = \"spare\"\nkind = \"log\"\n";
    let settings = worker(&with(&format!("{SINK}{spare}{ROUTE}"))).unwrap();
    assert!(matches!(settings.warnings.as_slice(), [one] if one.contains("spare")));
}

#[test]
fn every_wrong_sink_is_refused_under_its_key() {
    for (old, new, key, part) in [
        ("kind = \"http\"", "", "sink[0].kind", "is missing"),
        ("\"http\"", "\"smtp\"", "sink[0].kind", "not yet supported"),
        ("\"http\"", "\"slack\"", "sink[0].kind", "not yet supported"),
        ("\"http\"", "\"htpp\"", "sink[0].kind", "did you mean http?"),
        ("\"http\"", "\"log\"", "sink[0].url", "means nothing"),
        (
            "url = \"https://app.example.com/hooks\"",
            "",
            "sink[0].url",
            "is missing",
        ),
        ("https:", "http:", "sink[0].url", "must begin with https://"),
        (
            "https:",
            "mailto:",
            "sink[0].url",
            "must begin with https://",
        ),
        (
            "app.example.com",
            "user:pass@app.example.com",
            "sink[0].url",
            "user or password",
        ),
        ("hooks\"", "hooks#here\"", "sink[0].url", "#fragment"),
        (
            "secrets = [\"env:APP\"]",
            "",
            "sink[0].secrets",
            "at least one",
        ),
        (
            "env:APP",
            "env:STRIPE",
            "sink[0].secrets[0]",
            "Standard Webhooks",
        ),
        ("env:APP", "env:NOWHERE", "sink[0].secrets[0]", "is not set"),
        (
            "[\"env:APP\"]",
            "[\"env:APP\"]\nallow_private = [\"10.0.0.0\"]",
            "sink[0].allow_private[0]",
            "must be a network",
        ),
        (
            "[\"env:APP\"]",
            "[\"env:APP\"]\nallow_private = \"10.0.0.0/8\"",
            "sink[0].allow_private",
            "a list",
        ),
    ] {
        let area = SINK.replace(old, new);
        let lines = lines(worker(&with(&format!("{area}{ROUTE}"))));
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
fn a_sink_without_a_right_name_of_its_own_is_refused() {
    let name = SINK.replace("\"app\"", "\"My App\"");
    let route = ROUTE.replace("\"app\"", "\"My App\"");
    assert_faults(
        worker(&with(&format!("{name}{route}"))),
        &[("sink[0].name", "a-z")],
    );
    let twice = format!("{SINK}{SINK}{ROUTE}");
    assert_faults(
        worker(&with(&twice)),
        &[("sink[1].name", "\"app\" is taken")],
    );
}

#[test]
fn plain_http_is_for_this_machine_only() {
    for host in ["127.0.0.1:80", "[::1]:80", "localhost:80", "app.localhost"] {
        let area = SINK.replace("https://app.example.com", &format!("http://{host}"));
        let settings = worker(&with(&format!("{area}{ROUTE}"))).unwrap();
        assert!(
            matches!(settings.sinks[0].kind, SinkKind::Http(_)),
            "{host}"
        );
    }
}

#[test]
fn every_wrong_route_is_refused_under_its_key() {
    for (route, key, part) in [
        ("topic = \"*\"", "route[0].sinks", "at least one"),
        (
            "topic = \"*\"\nsinks = [\"ap\"]",
            "route[0].sinks[0]",
            "did you mean app?",
        ),
        (
            "topic = \"*\"\nsinks = [\"app\", \"app\"]",
            "route[0].sinks[1]",
            "listed twice",
        ),
        ("topic = \"*\"\nsinks = \"app\"", "route[0].sinks", "a list"),
        (
            "topic = \"*\"\nsinks = [\"app\"]\nordered = true",
            "route[0].ordered",
            "not yet supported",
        ),
    ] {
        assert_faults(
            worker(&with(&format!("{SINK}[[route]]\n{route}"))),
            &[(key, part)],
        );
    }
    for (route, key, part) in [
        (
            "topic = \"welcom\"\nsinks = [\"app\"]",
            "route[1].topic",
            "did you mean welcome?",
        ),
        (
            "topic = \"*\"\nsinks = [\"app\"]",
            "route[1].topic",
            "has a route already",
        ),
        ("sinks = [\"app\"]", "route[1].topic", "is missing"),
    ] {
        let text = with(&format!("{SINK}{ROUTE}[[route]]\n{route}"));
        assert_faults(worker(&text), &[(key, part)]);
    }
}

#[test]
fn a_boot_with_unrouted_topics_names_them() {
    let every = TOPICS.join(", ");
    assert_faults(worker(&with(SINK)), &[("route", every.as_str())]);
    let named = "[[route]]\ntopic = \"welcome\"\nsinks = [\"app\"]\n";
    let lines = lines(worker(&with(&format!("{SINK}{named}"))));
    assert!(
        lines[0].starts_with("route: ") && lines[0].contains("email.receipt"),
        "{lines:?}"
    );
    assert!(!lines[0].contains("welcome"), "{lines:?}");
}

#[test]
fn a_route_needs_its_sink_configured() {
    assert_faults(
        worker(&with(ROUTE)),
        &[("route[0].sinks[0]", "unknown sink")],
    );
}
