//! The commands, one file each. Exit codes: 0 done, 1 failed, 2 usage, 64 configuration.

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
            eprintln!("hookledger-worker: {error:#}");
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

fn start(cli: &Cli) -> Result<ExitCode, Ended> {
    let environment = Environment::from_process();
    let log = LogSettings::read(&environment)?;
    let raw = Raw::load(cli.config.as_deref(), &environment)?;
    let settings = WorkerSettings::read(&raw, &environment)?;
    logging::init(&log).map_err(anyhow::Error::from)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)?;
    runtime.block_on(async {
        match &cli.command {
            Command::Run => run::run(settings).await,
        }
    })
}
