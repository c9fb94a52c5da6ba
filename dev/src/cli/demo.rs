//! `cargo dev demo`: the main job on real input, in one command.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::demo;

#[derive(Args)]
pub(super) struct Arguments {
    /// Decides ids and order; a new one each time when absent.
    #[arg(long)]
    seed: Option<u64>,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    eprintln!("starting MongoDB, building ingest and worker …");
    println!("A subscription and a credit pack, every event twice, shuffled (seed {seed}).\n");
    let account = demo::run(seed).await?;
    println!("{account}");
    let faults = account.faults();
    if faults.is_empty() {
        println!("\nEverything is as it must be.");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nNot as it must be:");
    for fault in faults {
        println!("  {fault}");
    }
    Ok(ExitCode::FAILURE)
}
