//! `cargo dev mongod`: a replica set and nothing else, for trying things by hand and for our own tests.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use hookledger_shared::shutdown::{self, Shutdown};

use crate::mongo::{Members, ReplicaSet, ReplicaSetOptions, binary};

#[derive(Args)]
pub(super) struct Arguments {
    /// Three members instead of one.
    #[arg(long)]
    three: bool,
    /// Only print which mongod would be run, after fetching it when there is none.
    #[arg(long)]
    path: bool,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    if arguments.path {
        println!("{}", binary::find().await?.display());
        return Ok(ExitCode::SUCCESS);
    }
    let members = if arguments.three {
        Members::Three
    } else {
        Members::One
    };
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(members)).await?;
    for index in 0..set.size() {
        let member = set.member(index);
        println!("member {} {}", member.pid(), member.data_dir().display());
    }
    println!("uri {}", set.uri());
    let (trigger, shutdown) = Shutdown::new();
    shutdown::on_signals(trigger)?;
    shutdown.requested().await;
    set.stop().await?;
    Ok(ExitCode::SUCCESS)
}
