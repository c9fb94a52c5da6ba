//! `dead-letters`: what was given up, of events and messages alike. One file a verb.

mod list;
mod plain;
mod retry;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use hookledger_shared::config::WorkerSettings;
use hookledger_shared::store::dead::DeadFilter;
use hookledger_shared::store::{Operator, StoreError, Stores};

use super::{Ended, database};
use crate::ops::dead_letters::{self, DeadLetters, What};

/// What `dead-letters` can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List them, the newest first.
    List(list::Options),
    /// Show one with all that is known of it.
    Show(show::Options),
    /// Put them back, to be tried again from the start.
    Retry(retry::Options),
}

/// Which ones: each part that is given must match.
#[derive(Debug, Args)]
struct Filter {
    /// Only events, or only messages.
    #[arg(long, value_name = "KIND_OF_ROW")]
    what: Option<What>,
    /// The kind of the last error, as lists show it.
    #[arg(long)]
    kind: Option<String>,
    /// The event's type or the message's topic.
    #[arg(long, value_name = "TYPE_OR_TOPIC")]
    about: Option<String>,
    /// The event's source or the message's destination.
    #[arg(long, value_name = "SOURCE_OR_DESTINATION")]
    place: Option<String>,
}

impl Filter {
    async fn read(&self, stores: &Stores, page: i64) -> Result<DeadLetters, StoreError> {
        let filter = DeadFilter {
            kind: self.kind.clone(),
            about: self.about.clone(),
            place: self.place.clone(),
        };
        dead_letters::read(stores, self.what, &filter, page).await
    }
}

pub(super) async fn run(
    settings: WorkerSettings,
    command: &Command,
    operator: &Operator,
) -> Result<ExitCode, Ended> {
    let stores = database::connect(&settings).await?;
    match command {
        Command::List(options) => list::run(&stores, options).await,
        Command::Show(options) => show::run(&stores, options).await,
        Command::Retry(options) => retry::run(&stores, options, operator).await,
    }
    .map_err(Ended::from)
}
