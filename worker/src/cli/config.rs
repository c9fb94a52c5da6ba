//! `config show`: what was read, with secrets hidden, and what is wrong with it.

use std::process::ExitCode;

use clap::Subcommand;
use hookledger_shared::config::{self, Environment, Raw, WorkerSettings};

use super::{Ended, print};

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print what file and environment say, as TOML, with secrets hidden.
    Show,
}

pub(super) fn run(
    command: &Command,
    raw: &Raw,
    environment: &Environment,
) -> Result<ExitCode, Ended> {
    match command {
        Command::Show => show(raw, environment),
    }
}

fn show(raw: &Raw, environment: &Environment) -> Result<ExitCode, Ended> {
    print::text(&config::show(raw))?;
    let settings = WorkerSettings::read(raw, environment)?;
    for warning in &settings.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}
