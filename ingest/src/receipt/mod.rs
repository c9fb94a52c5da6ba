//! Reading a verified body: just enough to know which event it is. Pure, and never a
//! reason to turn an authentic delivery away: what can't be read is stored with its
//! problem, and an operator finds it among the dead letters.
//!
//! The body itself goes on untouched. What the event means is the worker's business.

mod loose;
mod stripe;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use bson::DateTime;
use hookledger_shared::config::{Provider, Source};
use hookledger_shared::model::event::{NewEvent, Problem};
use sha2::{Digest, Sha256};

use crate::provider::Verified;

/// The longest id, type or other short text that is taken from a body, in bytes. Ids stand
/// in a unique index; providers' own are far shorter.
const MAX_TEXT: usize = 255;
/// The last second of the year 9999, the end of what dates elsewhere can hold.
const MAX_SECONDS: i64 = 253_402_300_799;

/// What an envelope tells, each part only when it is there, of the right type and in range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Facts {
    event_id: Option<String>,
    event_type: Option<String>,
    created: Option<i64>,
    livemode: Option<bool>,
    account: Option<String>,
    api_version: Option<String>,
    object_id: Option<String>,
    customer_id: Option<String>,
}

/// The body is no envelope of its provider: no JSON object, or one that has a field which we
/// read twice, so that two readers could take it for two different events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unreadable;

/// The row's content for what `source` received at `received_at`, the server's time.
#[must_use]
pub fn read(
    verified: &Verified,
    source: &Source,
    content_type: Option<&str>,
    received_at: DateTime,
) -> NewEvent {
    let envelope = match verified.provider() {
        Provider::Stripe => stripe::read(verified.body()),
    };
    let problem = match &envelope {
        Err(Unreadable) => Some(Problem::Unreadable),
        Ok(facts) => problem(facts, source),
    };
    let facts = envelope.unwrap_or_default();
    NewEvent {
        event_id: facts.event_id.unwrap_or_else(|| digest(verified.body())),
        provider: verified.provider().as_str(),
        scope: source.scope.clone(),
        source: source.name.clone(),
        secret_id: verified.secret().to_string(),
        event_type: facts.event_type,
        created: facts.created,
        livemode: facts.livemode,
        account: facts.account,
        api_version: facts.api_version,
        object_id: facts.object_id,
        customer_id: facts.customer_id,
        content_type: content_type.map(Cow::Borrowed).and_then(short),
        body: verified.body().clone(),
        problem,
        received_at,
    }
}

fn problem(facts: &Facts, source: &Source) -> Option<Problem> {
    if facts.event_id.is_none() {
        return Some(Problem::NoUsableId);
    }
    let expected = facts.livemode.is_none_or(|live| live == source.livemode);
    (!expected).then_some(Problem::WrongLivemode)
}

/// What stands in for an id: the same bytes are the same event.
fn digest(body: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(body)))
}

/// Text that is neither empty nor long.
fn short(text: Cow<'_, str>) -> Option<String> {
    (1..=MAX_TEXT)
        .contains(&text.len())
        .then(|| text.into_owned())
}

/// A time between 1970 and the year 9999.
fn seconds(seconds: i64) -> Option<i64> {
    (0..=MAX_SECONDS).contains(&seconds).then_some(seconds)
}
