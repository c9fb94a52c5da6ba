//! What is meant by the ids or the filter of `retry`, read once before anything is done: a
//! letter that dies again meanwhile is not retried for ever.

use bson::Document;
use hookledger_shared::model::event::Status;
use hookledger_shared::store::{DeadLetter, StoreError, Stores};
use serde_json::{Value, json};

use crate::cli::dead_letters::Filter;

/// How many of each kind one run takes, so that they fit into memory.
const MAX: i64 = 10_000;

/// One row, and how it is called.
pub(super) struct Letter {
    pub(super) row: DeadLetter,
    /// For people.
    pub(super) line: String,
    /// For programs.
    pub(super) json: Value,
}

impl Letter {
    fn event(id: bson::oid::ObjectId, name: [&str; 4]) -> Self {
        let [event_id, provider, scope, about] = name;
        Self {
            row: DeadLetter::Event(id),
            line: format!("event {event_id} of {provider}/{scope} ({about})"),
            json: json!({
                "what": "event", "eventId": event_id, "provider": provider, "scope": scope,
                "type": about,
            }),
        }
    }

    fn message(id: bson::oid::ObjectId, name: [&str; 3]) -> Self {
        let [key, destination, topic] = name;
        Self {
            row: DeadLetter::Message(id),
            line: format!("message {key} to {destination} ({topic})"),
            json: json!({
                "what": "message", "key": key, "destination": destination, "topic": topic,
            }),
        }
    }
}

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// To be retried.
    pub(super) dead: Vec<Letter>,
    /// Named, but in another state; their lines say in which.
    pub(super) not_dead: Vec<Letter>,
    /// Named, but nowhere.
    pub(super) missing: Vec<String>,
    /// More match than one run takes.
    pub(super) more: bool,
}

impl Found {
    /// One line for each that was named and can't be retried.
    pub(super) fn complaints(&self) -> Vec<String> {
        let not_dead = self.not_dead.iter().map(|letter| letter.line.clone());
        let missing = self.missing.iter();
        let missing = missing.map(|id| format!("no event and no message is called {id}"));
        not_dead.chain(missing).collect()
    }

    /// How many.
    pub(super) fn counted(&self) -> String {
        let events = self.dead.iter().filter(|letter| match letter.row {
            DeadLetter::Event(_) => true,
            DeadLetter::Message(_) => false,
        });
        let events = events.count();
        let messages = self.dead.len() - events;
        let more = if self.more {
            "; there are more, run again for the rest"
        } else {
            ""
        };
        let events = counted(events, "dead event");
        let messages = counted(messages, "dead message");
        format!("{events} and {messages} to retry{more}")
    }

    fn sort_in(&mut self, row: &Document, letter: Letter) {
        let status = row.get_str("status").unwrap_or_default();
        if status == Status::Dead.as_str() {
            return self.dead.push(letter);
        }
        let line = format!("{} is not dead but {status}", letter.line);
        self.not_dead.push(Letter { line, ..letter });
    }
}

fn counted(count: usize, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// Everything that is called by one of `ids`: an id may stand in several scopes, a key at
/// several destinations.
pub(super) async fn named(stores: &Stores, ids: &[String]) -> Result<Found, StoreError> {
    let mut found = Found::default();
    for (index, id) in ids.iter().enumerate() {
        if ids[..index].contains(id) {
            continue;
        }
        let events = stores.events.documents(id).await?;
        let messages = stores.outbox.by_key(id).await?;
        if events.is_empty() && messages.is_empty() {
            found.missing.push(id.clone());
        }
        for row in &events {
            let names = ["eventId", "provider", "scope", "type"];
            found.sort_in(
                row,
                Letter::event(row_id(row)?, names.map(|name| text(row, name))),
            );
        }
        for row in &messages {
            let names = ["key", "destination", "topic"];
            found.sort_in(
                row,
                Letter::message(row_id(row)?, names.map(|name| text(row, name))),
            );
        }
    }
    Ok(found)
}

/// Everything dead that matches, the oldest first.
pub(super) async fn all(stores: &Stores, filter: &Filter) -> Result<Found, StoreError> {
    let mut listed = filter.read(stores, MAX + 1).await?;
    let mut found = Found::default();
    let max = usize::try_from(MAX).unwrap_or(usize::MAX);
    found.more = listed.events.len() > max || listed.messages.len() > max;
    listed.events.truncate(max);
    listed.messages.truncate(max);
    for event in listed.events.iter().rev() {
        let about = event.event_type.as_deref().unwrap_or_default();
        let name = [&*event.event_id, &*event.provider, &*event.scope, about];
        found.dead.push(Letter::event(event.id, name));
    }
    for message in listed.messages.iter().rev() {
        let name = [&*message.key, &*message.destination, &*message.topic];
        found.dead.push(Letter::message(message.id, name));
    }
    Ok(found)
}

fn text<'a>(row: &'a Document, name: &str) -> &'a str {
    row.get_str(name).unwrap_or_default()
}

fn row_id(row: &Document) -> Result<bson::oid::ObjectId, StoreError> {
    let id = row.get_object_id("_id");
    id.map_err(|error| StoreError::Unexpected(format!("a row's _id: {error}")))
}
