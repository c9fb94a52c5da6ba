//! `dead-letters list`: the newest first, without bodies and payloads.

use std::process::ExitCode;

use bson::DateTime;
use clap::Args;
use hookledger_shared::model::event::LastError;
use hookledger_shared::store::Stores;

use super::Filter;
use crate::cli::print;
use crate::ops::dead_letters::{DeadLetters, MAX_PAGE, PAGE};

/// What `list` takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Options {
    #[command(flatten)]
    filter: Filter,
    /// How many of each kind, at most.
    #[arg(long, default_value_t = PAGE, value_parser = clap::value_parser!(i64).range(1..=MAX_PAGE))]
    limit: i64,
    /// As JSON, like /api/dead-letters.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(stores: &Stores, options: &Options) -> anyhow::Result<ExitCode> {
    let listed = options.filter.read(stores, options.limit).await?;
    if options.json {
        print::json(&listed)?;
    } else {
        print::text(&tables(&listed, options.limit))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tables(listed: &DeadLetters, limit: i64) -> String {
    let mut text = String::new();
    if listed.events.is_empty() && listed.messages.is_empty() {
        text.push_str("no dead letters\n");
    }
    if !listed.events.is_empty() {
        let rows = listed.events.iter().map(|event| {
            let [kind, message] = why(event.last_error.as_ref());
            let about = event.event_type.clone().unwrap_or_default();
            let id = event.event_id.clone();
            [
                date(event.dead_at),
                id,
                about,
                event.source.clone(),
                kind,
                message,
            ]
        });
        let rows: Vec<_> = rows.collect();
        let heads = ["DEAD SINCE", "EVENT", "TYPE", "SOURCE", "KIND", "WHY"];
        text.push_str(&print::table(heads, &rows));
        text.push_str(&more(rows.len(), limit));
    }
    if !listed.events.is_empty() && !listed.messages.is_empty() {
        text.push('\n');
    }
    if !listed.messages.is_empty() {
        let rows = listed.messages.iter().map(|message| {
            let [kind, why] = why(message.last_error.as_ref());
            let (key, topic) = (message.key.clone(), message.topic.clone());
            let to = message.destination.clone();
            [date(message.dead_at), key, topic, to, kind, why]
        });
        let rows: Vec<_> = rows.collect();
        let heads = [
            "DEAD SINCE",
            "MESSAGE",
            "TOPIC",
            "DESTINATION",
            "KIND",
            "WHY",
        ];
        text.push_str(&print::table(heads, &rows));
        text.push_str(&more(rows.len(), limit));
    }
    text
}

fn more(rows: usize, limit: i64) -> String {
    if i64::try_from(rows).is_ok_and(|rows| rows < limit) {
        return String::new();
    }
    format!("the newest {limit}; there may be more (--limit, or a filter)\n")
}

fn date(date: DateTime) -> String {
    date.try_to_rfc3339_string().unwrap_or_default()
}

fn why(error: Option<&LastError>) -> [String; 2] {
    error.map_or_else(Default::default, |error| {
        [error.kind.clone(), error.message.clone()]
    })
}
