//! The register of one object at the provider: which news of it is the newest, as data.
//! How two registers join and what one shows are rules, and live in the worker's handlers.

use serde::{Deserialize, Serialize};

/// The greatest key seen, and every event that has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Register<I> {
    /// First half of the key: whether the object has come to its end.
    pub terminal: bool,
    /// Second half of the key: the provider's second.
    pub created: i64,
    /// The events with that key, ordered by id and one an id.
    pub events: Vec<Seen<I>>,
}

/// One event as the register keeps it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen<I> {
    /// The provider's id of the event.
    pub id: String,
    /// How late in a life its type stands, when nothing else tells.
    pub rank: i32,
    /// The object after what happened.
    pub after: I,
    /// The object before it, where the event says.
    pub before: Option<I>,
    /// Only where the provider was asked for the object: everything with the register's key
    /// that was known when it was asked. The answer is newer than all of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Vec<String>>,
}
