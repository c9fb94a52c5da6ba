//! `cargo dev mutants`: takes rules away, one at a time, and demands that a test fails.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::mutants::{self, Fate};

#[derive(Args)]
pub(super) struct Arguments {
    /// Only those whose name has this in it.
    #[arg(long, default_value = "")]
    only: String,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    eprintln!("compiling a copy of the tree, and trying its tests as they are …");
    let mut all_caught = true;
    mutants::run(&arguments.only, |tried| {
        let fate = match tried.fate {
            Fate::Caught => "caught",
            Fate::Survived => "SURVIVED",
            Fate::Broken => "DOES NOT COMPILE",
        };
        all_caught &= tried.fate == Fate::Caught;
        let (rule, test) = (&tried.mutation.name, &tried.mutation.test);
        println!("{fate:<10} {rule}\n{:<10} {test} ({:.0?})", "", tried.took);
    })
    .await?;
    Ok(if all_caught {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
