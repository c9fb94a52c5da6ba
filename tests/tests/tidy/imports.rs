//! Who may import whom: ARCHITECTURE.md's "May import", kept.

use crate::paths::{self, is_within};
use crate::tree::{self, File};

/// What has an effect, waits, or differs from one run to the next.
const IMPURE: [&str; 11] = [
    "mongodb",
    "tokio",
    "reqwest",
    "tracing",
    "futures",
    "fastrand",
    "std::time::Instant",
    "std::time::SystemTime",
    "hookledger_shared::clock",
    "hookledger_shared::store",
    "hookledger_shared::task",
];

/// Files outside the store that name the driver, and why that is right.
const DRIVER: [(&str, &str); 5] = [
    (
        "shared/src/config/mongodb.rs",
        "asks the driver whether a connection string is one, before anything connects",
    ),
    (
        "shared/src/config/mod.rs",
        "the module beside it has the same name",
    ),
    (
        "worker/src/event/transaction.rs",
        "hands the transaction's session on, and the driver's errors back as they are",
    ),
    ("worker/src/event/load.rs", "the same, for its reads"),
    ("worker/src/event/apply.rs", "the same, for its writes"),
];

/// The product's code in this room, without tests.
fn room<'a>(files: &'a [File], folder: &str) -> Vec<&'a File> {
    let inside = |file: &&File| file.is_rust() && file.path.starts_with(folder) && !file.is_test();
    let room: Vec<_> = files.iter().filter(inside).collect();
    assert!(!room.is_empty(), "{folder} is gone: change the rule");
    room
}

/// Which of `never` the file uses.
fn trespasses(file: &File, never: &[&str]) -> Vec<String> {
    let used = paths::used(file.without_tests());
    let found = never.iter().filter_map(|name| paths::within(&used, name));
    found.map(|path| format!("{}: {path}", file.path)).collect()
}

fn check(folders: &[&str], never: &[&str]) {
    let files = tree::files();
    let rooms = folders.iter().flat_map(|folder| room(&files, folder));
    let found: Vec<_> = rooms.flat_map(|file| trespasses(file, never)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn rules_know_no_database_no_network_no_log_and_no_clock() {
    let rooms = [
        "worker/src/handler/",
        "worker/src/stripe/",
        "worker/src/fold/",
    ];
    check(&rooms, &IMPURE);
    let others = ["app", "cli", "event", "ops", "outbox", "service"];
    let others = others.map(|room| format!("crate::{room}"));
    check(&rooms, &others.each_ref().map(String::as_str));
}

#[test]
fn verifiers_and_receipts_know_nothing_but_what_they_are_given() {
    let rooms = ["ingest/src/provider/", "ingest/src/receipt/"];
    check(&rooms, &IMPURE);
    let others = ["answer", "app", "clock", "commit", "route"];
    let others = others.map(|room| format!("crate::{room}"));
    check(&rooms, &others.each_ref().map(String::as_str));
}

#[test]
fn of_the_web_a_verifier_knows_headers_only() {
    let files = tree::files();
    for file in room(&files, "ingest/src/provider/") {
        for path in paths::used(file.without_tests()) {
            let web = is_within(&path, "actix_web");
            let headers = is_within(&path, "actix_web::http::header");
            assert!(!web || headers, "{}: {path}", file.path);
        }
    }
}

#[test]
fn the_model_is_plain_data() {
    check(&["shared/src/model/"], &IMPURE);
    check(&["shared/src/model/"], &["crate::config", "crate::store"]);
}

#[test]
fn sinks_never_see_the_database() {
    check(&["worker/src/outbox/sink/"], &["hookledger_shared::store"]);
}

#[test]
fn only_the_store_talks_to_mongodb() {
    let files = tree::files();
    let mut found = Vec::new();
    for folder in ["ingest/src/", "worker/src/", "shared/src/"] {
        for file in room(&files, folder) {
            let store = file.path.starts_with("shared/src/store/");
            if !store && !trespasses(file, &["mongodb"]).is_empty() {
                found.push(file.path.as_str());
            }
        }
    }
    let allowed: Vec<_> = DRIVER.iter().map(|(path, _)| *path).collect();
    for path in &found {
        assert!(allowed.contains(path), "{path} talks to MongoDB");
    }
    for path in allowed {
        assert!(found.contains(&path), "{path} needs no exception any more");
    }
}

#[test]
fn what_runs_in_production_knows_neither_the_other_program_nor_the_developers_tool() {
    for (package, others) in [
        ("shared", vec!["ingest", "worker", "dev", "tests"]),
        ("ingest", vec!["worker", "dev", "tests"]),
        ("worker", vec!["ingest", "dev", "tests"]),
    ] {
        let manifest = tree::root().join(package).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        for other in others {
            let name = format!("hookledger-{other}");
            assert!(!ships(&manifest, &name), "{package} depends on {name}");
        }
    }
}

/// Whether a manifest has this dependency outside its tests.
fn ships(manifest: &str, name: &str) -> bool {
    let mut section = "";
    manifest.lines().any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        let dependency = line.strip_prefix(name);
        section == "[dependencies]" && dependency.is_some_and(|rest| rest.starts_with(['.', ' ']))
    })
}

#[test]
fn a_trespass_is_seen() {
    let file = File {
        path: "room/a.rs".to_owned(),
        text: "use std::{fmt, time::Instant};\n".to_owned(),
    };
    assert_eq!(
        trespasses(&file, &IMPURE),
        ["room/a.rs: std::time::Instant"]
    );
    let tests =
        "[dependencies]\nserde = \"1\"\n[dev-dependencies]\nhookledger-dev.workspace = true\n";
    assert!(!ships(tests, "hookledger-dev"));
    assert!(ships(
        "[dependencies]\nhookledger-dev.workspace = true\n",
        "hookledger-dev"
    ));
}
