//! docs/operations.md says what there is: no more and no less.

use std::collections::BTreeSet;
use std::path::Path;

use hookledger_shared::telemetry::metrics::{IngestMetrics, WorkerMetrics};

use crate::bed;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    std::fs::read_to_string(path).unwrap()
}

/// The names in the first column of the tables under `heading`.
fn listed(page: &str, heading: &str) -> BTreeSet<String> {
    let (_, section) = page.split_once(&format!("\n{heading}\n")).unwrap();
    let section = section.split("\n#").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.map(|row| row.split(['`', '{']).next().unwrap().to_owned());
    names.collect()
}

#[test]
fn the_metrics_of_both_programs_are_listed_and_no_others() {
    let page = page();
    let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let worker = WorkerMetrics::new(["app"]);
    let ingest = IngestMetrics::new(["stripe"]);
    assert_eq!(listed(&page, "### Worker"), set(worker.names()));
    assert_eq!(listed(&page, "### Ingest"), set(ingest.names()));
}

#[tokio::test]
async fn every_command_and_every_option_is_on_the_page() {
    let page = page();
    for command in [
        &["run"][..],
        &["lag"],
        &["dead-letters", "list"],
        &["dead-letters", "show"],
        &["dead-letters", "retry"],
        &["config", "show"],
        &["indexes", "plan"],
        &["indexes", "apply"],
    ] {
        let typed = format!("hookledger-worker {}", command.join(" "));
        assert!(page.contains(&typed), "{typed}");
        let help = bed::run(&[command, &["--help"]].concat()).await;
        let words = help
            .out
            .split(|c: char| !c.is_ascii_lowercase() && c != '-');
        for option in words.filter(|word| word.len() > 2 && word.starts_with("--")) {
            let known = option == "--help" || page.contains(option);
            assert!(known, "{typed} {option}");
        }
    }
    let help = bed::run(&["--help"]).await;
    let commands = help.out.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let commands = commands.filter_map(|line| line.split_whitespace().next());
    for command in commands.filter(|name| *name != "help") {
        assert!(page.contains(&format!("`{command}`")), "{command}");
    }
}
