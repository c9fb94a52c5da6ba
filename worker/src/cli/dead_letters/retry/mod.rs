//! `dead-letters retry`: puts dead letters back, each with its line in the audit log. The
//! count comes first, and no more than so many a second.

mod find;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use hookledger_shared::clock::{self, ServerClock};
use hookledger_shared::store::transaction::Slot;
use hookledger_shared::store::{Operator, Stores};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};

use super::Filter;
use crate::cli::print;
use find::{Found, Letter};

/// Acts a second when nothing is said: far more than anyone does by hand, and little beside
/// what the worker does.
const RATE: u32 = 100;
/// More than a database takes from one connection anyway.
const MAX_RATE: i64 = 10_000;

/// What `retry` takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Options {
    /// Events' ids and messages' keys, as lists show them.
    // A filter beside ids would look as if it narrowed them.
    #[arg(required_unless_present = "all",
        conflicts_with_all = ["all", "what", "kind", "about", "place"])]
    ids: Vec<String>,
    /// All that match the filter, or all there are.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    /// Only say what would be retried.
    #[arg(long)]
    dry_run: bool,
    /// How many a second, at most.
    #[arg(long, value_name = "PER_SECOND", default_value_t = RATE,
        value_parser = clap::value_parser!(u32).range(1..=MAX_RATE))]
    rate: u32,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    stores: &Stores,
    options: &Options,
    operator: &Operator,
) -> anyhow::Result<ExitCode> {
    let found = if options.all {
        find::all(stores, &options.filter).await?
    } else {
        find::named(stores, &options.ids).await?
    };
    for complaint in found.complaints() {
        eprintln!("{}", print::clean(&complaint));
    }
    eprintln!("{}", found.counted());
    let mut done = Done::default();
    let ended = if options.dry_run {
        Ok(())
    } else {
        retry(stores, &found.dead, options, operator, &mut done).await
    };
    if options.json {
        print::json(&report(&found, &done, options.dry_run))?;
    } else if options.dry_run {
        for letter in &found.dead {
            print::text(&format!("would retry  {}\n", print::clean(&letter.line)))?;
        }
    } else {
        print::text(&format!("{} retried\n", done.retried.len()))?;
    }
    ended?;
    let whole = found.complaints().is_empty() && done.overtaken.is_empty();
    Ok(if whole || options.all {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What became of those that were found.
#[derive(Default)]
struct Done {
    retried: Vec<Value>,
    /// Somebody else was faster.
    overtaken: Vec<Value>,
}

async fn retry(
    stores: &Stores,
    letters: &[Letter],
    options: &Options,
    operator: &Operator,
    done: &mut Done,
) -> anyhow::Result<()> {
    let clock = ServerClock::new();
    let (asked, sent) = (clock::now(), Instant::now());
    let server = stores.server_time().await?;
    clock.observe(asked, sent.elapsed(), server);
    let mut pace = tokio::time::interval(Duration::from_secs(1) / options.rate);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut slot = Slot::open(stores).await?;
    for letter in letters {
        pace.tick().await;
        let requeued = stores.requeue(&mut slot, letter.row, operator, clock.now());
        let requeued = requeued
            .await
            .with_context(|| format!("{}; look at it and try again", print::clean(&letter.line)))?;
        let said = if requeued {
            done.retried.push(letter.json.clone());
            "retried"
        } else {
            done.overtaken.push(letter.json.clone());
            "not dead any more"
        };
        if !options.json {
            print::text(&format!("{said}  {}\n", print::clean(&letter.line)))?;
        }
    }
    Ok(())
}

fn report(found: &Found, done: &Done, dry_run: bool) -> Value {
    let dead = found.dead.iter().map(|letter| &letter.json);
    json!({
        "dryRun": dry_run,
        "found": dead.collect::<Vec<_>>(),
        "more": found.more,
        "retried": done.retried,
        "notDead": found.not_dead.iter().map(|letter| &letter.json).chain(&done.overtaken).collect::<Vec<_>>(),
        "missing": found.missing,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn ids_and_a_filter_are_refused_together_and_never_one_of_them_ignored() {
        let parsed = |line: &str| Line::try_parse_from(line.split(' '));
        assert!(parsed("retry evt_1 evt_2").is_ok());
        assert!(parsed("retry --all --what message --kind crashed").is_ok());
        for filter in [
            "--all",
            "--what message",
            "--kind x",
            "--about x",
            "--place x",
        ] {
            assert!(
                parsed(&format!("retry evt_1 {filter}")).is_err(),
                "{filter}"
            );
        }
        // Neither does a filter alone mean all that match.
        assert!(parsed("retry --kind x").is_err());
    }
}
