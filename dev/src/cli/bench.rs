//! `cargo dev bench`: figures beside a floor, with optimised programs.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::bench::{ingest, worker};
use crate::environment;
use crate::mongo::Members;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Acknowledged deliveries a second, and their latency.
    Ingest {
        /// A replica set of three members instead of one.
        #[arg(long)]
        three: bool,
        /// How often everything is measured.
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
    /// Events applied a second, of one hot customer and of a thousand.
    Worker {
        /// A replica set of three members instead of one.
        #[arg(long)]
        three: bool,
        /// How often everything is measured.
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        return again_optimised();
    }
    let members = |three| if three { Members::Three } else { Members::One };
    match arguments.what {
        What::Ingest { three, runs } => {
            let (members, runs) = (members(three), runs.max(1));
            ingest::run(ingest::Options { members, runs }).await?;
        }
        What::Worker { three, runs } => {
            let (members, runs) = (members(three), runs.max(1));
            worker::run(worker::Options { members, runs }).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Figures of unoptimised programs say nothing: runs the same command from a release build.
fn again_optimised() -> Result<ExitCode> {
    let status = Command::new(environment::cargo())
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "hookledger-dev",
            "--",
        ])
        .args(std::env::args_os().skip(1))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .context("cannot run cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
