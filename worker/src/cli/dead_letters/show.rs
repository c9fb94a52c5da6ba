//! `dead-letters show`: one row with all that is known of it. Bodies and payloads hold
//! personal data, so they are only shown when they are asked for.

use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::{Bson, Document};
use clap::Args;
use hookledger_shared::store::Stores;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::plain;
use crate::cli::print;

/// What `show` takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Options {
    /// The event's id or the message's key, as lists show it.
    id: String,
    /// Show an event's body too.
    #[arg(long)]
    body: bool,
    /// Show a message's payload too.
    #[arg(long)]
    payload: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(stores: &Stores, options: &Options) -> anyhow::Result<ExitCode> {
    let events = stores.events.documents(&options.id).await?;
    let messages = stores.outbox.by_key(&options.id).await?;
    if events.is_empty() && messages.is_empty() {
        anyhow::bail!(
            "no event and no message is called {}",
            print::clean(&options.id)
        );
    }
    let events: Vec<_> = events.into_iter().map(|row| event(row, options)).collect();
    let messages = messages.into_iter().map(|row| message(row, options));
    let messages: Vec<_> = messages.collect();
    if options.json {
        print::json(&json!({ "events": events, "messages": messages }))?;
    } else {
        let events = events.iter().map(|row| people("event", row));
        let messages = messages.iter().map(|row| people("message", row));
        let all: Vec<_> = events.chain(messages).collect();
        print::text(&all.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn event(mut row: Document, options: &Options) -> Map<String, Value> {
    let body = row.remove("body");
    let mut shown = plain::object(&row);
    if let Some(body) = body {
        shown.insert("body".to_owned(), summary(&body, options.body));
    }
    shown
}

/// A body's length and digest; the whole of it when it is wanted.
fn summary(body: &Bson, whole: bool) -> Value {
    let bytes = match (body.as_str(), body) {
        (Some(text), _) => text.as_bytes(),
        (None, Bson::Binary(binary)) => &binary.bytes,
        (None, other) => return json!({ "unexpected": format!("{:?}", other.element_type()) }),
    };
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut summary = json!({ "bytes": bytes.len(), "sha256": hex });
    if whole {
        let (form, text) = match body.as_str() {
            Some(text) => ("text", text.to_owned()),
            None => ("base64", STANDARD.encode(bytes)),
        };
        summary[form] = Value::String(text);
    }
    summary
}

fn message(mut row: Document, options: &Options) -> Map<String, Value> {
    if !options.payload {
        row.remove("payload");
    }
    plain::object(&row)
}

/// One line a field; what may be long comes last.
fn people(what: &str, row: &Map<String, Value>) -> String {
    let mut row = row.clone();
    let payload = row.remove("payload");
    let body = row.get_mut("body").and_then(Value::as_object_mut);
    let body = body.and_then(|body| body.remove("text"));
    let mut text = print::table([what, ""], &plain::lines(&row));
    if let Some(body) = body.as_ref().and_then(Value::as_str) {
        text.push_str(&format!("body:\n{}\n", print::clean_lines(body)));
    }
    if let Some(payload) = payload {
        text.push_str(&format!(
            "payload:\n{}\n",
            print::clean_lines(&format!("{payload:#}"))
        ));
    }
    text
}
