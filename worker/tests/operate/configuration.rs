//! `config show`, and how every command ends when it is told something wrong.

use crate::bed::{self, Bed, settings};

const ANY_URI: &str = "mongodb://ada:hunter2@127.0.0.1:1/?replicaSet=rs0";

#[tokio::test]
async fn the_configuration_is_shown_without_its_secrets() {
    let bed = Bed::at(ANY_URI).await;
    let shown = bed.run(&["config", "show"]).await;
    shown.says(
        0,
        &[
            "mongodb://***@127.0.0.1:1/?replicaSet=rs0",
            "env:OPS",
            "env:APP",
            "https://app.example.com/hooks",
            "name = \"crm\"",
        ],
    );
    toml_like(&shown.out);
}

/// Comments, tables and settings only.
fn toml_like(text: &str) {
    for line in text.lines() {
        let known = line.is_empty() || line.starts_with(['#', '[', '"', ']', ' ', '{']);
        assert!(known || line.contains(" = "), "{line}");
    }
}

#[tokio::test]
async fn faults_are_reported_one_a_line_by_every_command() {
    let bed = Bed::at(ANY_URI).await;
    let text = settings(ANY_URI, "d")
        .replace("[worker]", "[worker]\nlease_ms = 5\nleese = 1")
        .replace("\"env:APP\"", "\"written-into-the-file\"");
    bed.configure(&text);
    for command in [
        &["config", "show"][..],
        &["lag"],
        &["dead-letters", "list"],
        &["dead-letters", "retry", "--all"],
        &["indexes", "plan"],
        &["run"],
    ] {
        let ran = bed.run(command).await;
        let keys = [
            "worker.lease_ms: ",
            "worker.leese: ",
            "sink[0].secrets[0]: ",
        ];
        ran.says(64, &keys);
        assert_eq!(ran.err.lines().count(), keys.len(), "{ran:?}");
    }
    let shown = bed.run(&["config", "show"]).await;
    assert!(
        shown.out.contains("lease_ms = 5"),
        "it is shown all the same"
    );
}

#[tokio::test]
async fn a_file_that_is_missing_or_no_toml_is_a_fault_of_the_configuration() {
    let missing = bed::run(&["--config", "/nowhere/hookledger.toml", "lag"]).await;
    missing.says(64, &["/nowhere/hookledger.toml: can't be read"]);
    let bed = Bed::at(ANY_URI).await;
    bed.configure("[mongodb]\nuri = \"mongodb://ada:hunter2@\n");
    bed.run(&["config", "show"]).await.says(64, &["line 2: "]);
}

#[tokio::test]
async fn what_makes_no_sense_on_the_command_line_ends_with_2() {
    for command in [
        &[][..],
        &["undo"],
        &["lag", "--jason"],
        &["dead-letters", "retry"],
        &["dead-letters", "retry", "evt_1", "--all"],
        &["dead-letters", "list", "--limit", "0"],
        &["dead-letters", "list", "--what", "receipt"],
        &["dead-letters", "retry", "--all", "--rate", "0"],
        &["config"],
        &["indexes", "drop"],
    ] {
        let ran = bed::run(command).await;
        ran.says(2, &[]);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{ran:?}");
    }
    // A filter that would be ignored is refused too.
    let filtered = ["dead-letters", "retry", "evt_1", "--kind", "fault"];
    bed::run(&filtered).await.says(2, &["--kind"]);
}
