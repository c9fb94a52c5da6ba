//! `lag`: how far behind we are.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hookledger_shared::config::WorkerSettings;

use super::{Ended, database, print};
use crate::ops::lag::{self, Lag};

/// What `lag` takes.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// As JSON, like /api/lag.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: WorkerSettings, options: &Options) -> Result<ExitCode, Ended> {
    let stores = database::connect(&settings).await?;
    let sinks = settings.sinks.into_iter();
    let destinations: Vec<_> = sinks.map(|sink| sink.name).collect();
    let lag = lag::read(&stores, &destinations)
        .await
        .map_err(anyhow::Error::from)?;
    if options.json {
        print::json(&lag)?;
    } else {
        print::text(&table(&lag))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(lag: &Lag) -> String {
    let (events, messages) = (&lag.events, &lag.messages);
    let mut rows = vec![
        [
            "events".to_owned(),
            seconds(events.lag),
            format!(
                "{} received, {} processing, {} dead",
                events.received, events.processing, events.dead
            ),
        ],
        [
            "messages".to_owned(),
            String::new(),
            format!(
                "{} pending, {} sending, {} dead",
                messages.pending, messages.sending, messages.dead
            ),
        ],
    ];
    let to = messages.destinations.iter();
    rows.extend(to.map(|to| {
        let name = format!("  to {}", to.destination);
        [name, seconds(to.lag), String::new()]
    }));
    print::table(["", "WAITING", "COUNTS"], &rows)
}

fn seconds(lag: Duration) -> String {
    format!("{:.1} s", lag.as_secs_f64())
}
