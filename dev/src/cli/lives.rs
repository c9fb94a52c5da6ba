//! `cargo dev lives`: random lives through the real programs, with kills, compared with the
//! truth.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::environment::LIFE_SEED;
use crate::lives;
use crate::mongo::{Deployment, ReplicaSetOptions};

#[derive(Args)]
pub(super) struct Arguments {
    /// How many lives.
    #[arg(long, default_value_t = 1_000)]
    rounds: usize,
    /// Of the first; the others follow. A new one each time when absent.
    #[arg(long)]
    seed: Option<u64>,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    eprintln!("starting MongoDB, building ingest and worker …");
    let deployment = Deployment::open(&ReplicaSetOptions::for_development()).await?;
    println!("Random lives of customers, from seed {seed} on.\n");
    let account = lives::run(&deployment.uri(), arguments.rounds, seed).await?;
    println!("{account}");
    if account.faults.is_empty() {
        println!("\nEvery end is the truth, or flagged.");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nNot as it must be (seed {seed}):");
    for fault in account.faults {
        println!("  {fault}");
    }
    println!("\n`cargo dev lives --rounds 1 --seed N` takes one life through the programs,");
    println!("`{LIFE_SEED}=N cargo test nothing_is_ever` through the rules alone.");
    Ok(ExitCode::FAILURE)
}
