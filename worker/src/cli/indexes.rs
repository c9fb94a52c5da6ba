//! `indexes plan` and `indexes apply`: what the server's indexes lack, and making it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use hookledger_shared::config::WorkerSettings;
use hookledger_shared::store::Stores;
use hookledger_shared::store::index::{Change, Planned};
use serde_json::{Value, json};

use super::{Ended, database, print};

/// What `indexes` can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Say what `apply` would make, and what is in its way; changes nothing.
    Plan(Options),
    /// Make what is missing. Only adds, so it is safe beside a running version.
    Apply(Options),
}

/// What both take.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: WorkerSettings, command: &Command) -> Result<ExitCode, Ended> {
    let stores = database::connect(&settings).await?;
    let wanted = Stores::wanted();
    match command {
        Command::Plan(options) => {
            let planned = stores.plan(&wanted).await.map_err(anyhow::Error::from)?;
            say(&planned, options, "nothing to change")
        }
        Command::Apply(options) => {
            let made = stores.preflight(&wanted).await;
            say(
                &made.map_err(anyhow::Error::from)?,
                options,
                "nothing to make",
            )
        }
    }
}

fn say(planned: &[Planned], options: &Options, nothing: &str) -> Result<ExitCode, Ended> {
    if options.json {
        print::json(&as_json(planned))?;
    } else if planned.is_empty() {
        print::text(&format!("{nothing}\n"))?;
    } else {
        let lines = planned.iter().map(|planned| format!("{planned}\n"));
        print::text(&print::clean_lines(&lines.collect::<String>()))?;
    }
    let conflict = |planned: &Planned| match planned.change {
        Change::Conflict { .. } => true,
        Change::Create(_) | Change::Extra(_) => false,
    };
    Ok(if planned.iter().any(conflict) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn as_json(planned: &[Planned]) -> Value {
    let (mut create, mut conflicts, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    for Planned { collection, change } in planned {
        match change {
            Change::Create(index) => {
                create.push(json!({ "collection": collection, "index": index.name }));
            }
            Change::Conflict { found, wanted, why } => conflicts.push(json!({
                "collection": collection, "index": found, "wanted": wanted.name, "why": why,
            })),
            Change::Extra(name) => extra.push(json!({ "collection": collection, "index": name })),
        }
    }
    json!({ "create": create, "conflicts": conflicts, "extra": extra })
}
