//! The commands, one file each. Exit codes: 0 done, 1 failed, 2 usage, 64 configuration.

mod config;
mod database;
mod dead_letters;
mod indexes;
mod lag;
mod operator;
mod print;
mod rebuild;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hookledger_shared::config::{Environment, Faults, Raw, WorkerSettings};
use hookledger_shared::telemetry::logging::{self, LogSettings};

#[derive(Debug, Parser)]
#[command(
    name = "hookledger-worker",
    version,
    about = "Applies ledger events and delivers their effects"
)]
struct Cli {
    /// The configuration; else HOOKLEDGER_CONFIG names it, else ./hookledger.toml.
    #[arg(long, value_name = "PATH", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon until SIGTERM; it finishes or releases what it holds.
    Run,
    /// Say how far behind we are: how long the head of what is due has been waiting.
    Lag(lag::Options),
    /// List, show and retry what was given up.
    #[command(subcommand)]
    DeadLetters(dead_letters::Command),
    /// Compute every document again from the ledger, compare, and bring back what differs.
    Rebuild(rebuild::Options),
    /// Show the configuration.
    #[command(subcommand)]
    Config(config::Command),
    /// Compare the database's indexes with those that are wanted, and make what is missing.
    #[command(subcommand)]
    Indexes(indexes::Command),
}

/// Reads the command line and the configuration, runs the command.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(&cli) {
        Ok(code) => code,
        Err(Ended::Configuration(faults)) => {
            eprintln!("{faults}");
            ExitCode::from(Faults::EXIT_CODE)
        }
        Err(Ended::Failed(error)) => {
            eprintln!("hookledger-worker: {}", said(&error));
            ExitCode::FAILURE
        }
    }
}

/// How a command ends badly.
enum Ended {
    Configuration(Faults),
    Failed(anyhow::Error),
}

impl From<Faults> for Ended {
    fn from(faults: Faults) -> Self {
        Self::Configuration(faults)
    }
}

impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// An error with its causes, each said once: many of ours repeat their cause already.
fn said(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        match said.as_str() {
            "" => cause,
            before if before.contains(&cause) => said,
            before => format!("{before}: {cause}"),
        }
    })
}

fn start(cli: &Cli) -> Result<ExitCode, Ended> {
    let environment = Environment::from_process();
    let log = LogSettings::read(&environment)?;
    let raw = Raw::load(cli.config.as_deref(), &environment)?;
    if let Command::Config(command) = &cli.command {
        return config::run(command, &raw, &environment);
    }
    let settings = WorkerSettings::read(&raw, &environment)?;
    logging::init(&log).map_err(anyhow::Error::from)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)?;
    runtime.block_on(async {
        match &cli.command {
            Command::Run => run::run(settings).await,
            Command::Lag(options) => lag::run(settings, options).await,
            Command::DeadLetters(command) => {
                let operator = operator::read(&environment);
                dead_letters::run(settings, command, &operator).await
            }
            Command::Rebuild(options) => {
                let operator = operator::read(&environment);
                rebuild::run(settings, options, &operator).await
            }
            // Handled above, before anything is required of the settings.
            Command::Config(command) => config::run(command, &raw, &environment),
            Command::Indexes(command) => indexes::run(settings, command).await,
        }
    })
}
