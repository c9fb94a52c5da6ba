//! The commands behind `cargo dev`: one file each.

mod bench;
mod demo;
mod lives;
mod mongod;
mod mutants;
mod run;
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
    /// Without one: MongoDB, ingest and a worker, until Ctrl-C.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Send a customer's first minutes through the real programs and account for them.
    Demo(demo::Arguments),
    /// Measure, beside a floor in the same run.
    Bench(bench::Arguments),
    /// Take random lives of customers through the real programs, with kills, and compare the
    /// ends with the truth.
    Lives(lives::Arguments),
    /// Take one rule away at a time; the test that holds it must fail.
    Mutants(mutants::Arguments),
    /// Sign a Stripe event and send it to a running ingest.
    Send(send::Arguments),
    /// Run a local MongoDB replica set and nothing else.
    #[command(hide = true)]
    Mongod(mongod::Arguments),
}

/// Reads the command line, runs the command, and says what went wrong on standard error.
pub async fn run() -> ExitCode {
    let done = match Cli::parse().command {
        None => run::run().await,
        Some(Command::Demo(arguments)) => demo::run(arguments).await,
        Some(Command::Bench(arguments)) => bench::run(arguments).await,
        Some(Command::Lives(arguments)) => lives::run(arguments).await,
        Some(Command::Mutants(arguments)) => mutants::run(arguments).await,
        Some(Command::Send(arguments)) => send::run(arguments).await,
        Some(Command::Mongod(arguments)) => mongod::run(arguments).await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
