//! The commands behind `cargo dev`: one file each.

mod mongod;
mod send;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo dev",
    bin_name = "cargo dev",
    about = "Hookledger on a developer's machine"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sign a Stripe event and send it to a running ingest.
    Send(send::Arguments),
    /// Run a local MongoDB replica set and nothing else.
    #[command(hide = true)]
    Mongod(mongod::Arguments),
}

/// Reads the command line, runs the command, and says what went wrong on standard error.
pub async fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Send(arguments) => send::run(arguments).await,
        Command::Mongod(arguments) => mongod::run(arguments).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
