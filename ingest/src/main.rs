//! The program: reads its configuration, starts ingest, and stops it at SIGTERM. Exit code
//! 64 means a wrong configuration, 1 that it could not start or go on.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use hookledger_ingest::app;
use hookledger_ingest::clock::Clock;
use hookledger_shared::config::{Environment, Faults, IngestSettings, Raw};
use hookledger_shared::shutdown;
use hookledger_shared::telemetry::logging::{self, LogSettings};

/// Verifies webhook deliveries and stores them, answering 200 only for what is safe.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The configuration; else HOOKLEDGER_CONFIG names it, else ./hookledger.toml.
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (settings, log) = match read(&arguments) {
        Ok(read) => read,
        Err(faults) => {
            eprintln!("{faults}");
            return ExitCode::from(Faults::EXIT_CODE);
        }
    };
    match serve(settings, &log) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hookledger-ingest: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn read(arguments: &Arguments) -> Result<(IngestSettings, LogSettings), Faults> {
    let environment = Environment::from_process();
    let log = LogSettings::read(&environment)?;
    let raw = Raw::load(arguments.config.as_deref(), &environment)?;
    Ok((IngestSettings::read(&raw, &environment)?, log))
}

#[tokio::main]
async fn serve(settings: IngestSettings, log: &LogSettings) -> anyhow::Result<()> {
    logging::init(log)?;
    let running = app::start(settings, Clock::Machine).await?;
    shutdown::on_signals(running.trigger()).context("signals can't be heard")?;
    let (webhooks, ops) = (running.webhook_addr, running.ops_addr);
    tracing::info!(%webhooks, %ops, "listening");
    // For whoever started us with port 0, and for people.
    println!("listening webhooks={webhooks} ops={ops}");
    running.ended().await?;
    tracing::info!("stopped");
    Ok(())
}
