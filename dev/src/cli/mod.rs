//! The commands behind `cargo dev`: one file each.

mod mongod;

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
    /// Run a local MongoDB replica set and nothing else.
    #[command(hide = true)]
    Mongod(mongod::Arguments),
}

/// Reads the command line, runs the command, and says what went wrong on standard error.
pub async fn run() -> ExitCode {
    let done = match Cli::parse().command {
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
