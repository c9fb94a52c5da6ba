//! `rebuild`: the documents again from the ledger, compared with the live ones, and what
//! differs brought back.

use std::process::ExitCode;

use clap::Args;
use hookledger_shared::config::WorkerSettings;
use hookledger_shared::store::Operator;

use super::{Ended, database, print};
use crate::handler::Rules;
use crate::rebuild::Rebuild;

/// Differences shown when nothing is said.
const SHOWN: usize = 100;

/// What `rebuild` takes.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Only compare; changes nothing.
    #[arg(long)]
    check: bool,
    /// How many of each kind are shown; the rest is counted.
    #[arg(long, value_name = "COUNT", default_value_t = SHOWN)]
    limit: usize,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(
    settings: WorkerSettings,
    options: &Options,
    operator: &Operator,
) -> Result<ExitCode, Ended> {
    let stores = database::connect(&settings).await?;
    let rules = Rules {
        catalogue: settings.catalogue.clone(),
        metadata: settings.metadata.clone(),
    };
    let rebuild = Rebuild {
        stores: &stores,
        rules: &rules,
        routing: &settings.routing,
        settle: settings.settle,
        retention: settings.retention,
        progress: |line| eprintln!("{line}"),
    };
    let report = if options.check {
        rebuild.check().await
    } else {
        rebuild.repair(operator).await
    };
    let report = report.map_err(anyhow::Error::from)?;
    if options.json {
        print::json(&report.json(options.limit))?;
    } else {
        print::text(&print::clean_lines(&report.text(options.limit)))?;
    }
    Ok(if report.is_equal() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
