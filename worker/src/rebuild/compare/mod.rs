//! One document beside its rebuilt twin, field by field. Pure. Not compared: `version`,
//! which counts writes and not events, and what no event says.
//!
//! `emitted` is no equality: what was sent can't be taken back, so the live document may
//! remember more than any replay would send (a purchase that lost its payment to an older
//! claim was told `credits.granted` if it came first). It must remember what is owed in
//! every order; a key that is missing would be sent again.

use std::collections::BTreeSet;

use bson::{Bson, Document};
use hookledger_shared::model::book::Book;

use super::kept::Kept;

/// How a document differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Difference {
    /// The ledger has it, the live state has not.
    Missing,
    /// The live state has it, the ledger has not.
    Extra,
    /// These fields differ.
    Fields(Vec<Field>),
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its name, with those of the documents around it.
    pub(super) name: String,
    /// How it stands, when it is of a kind that shows nothing personal.
    pub(super) live: Option<String>,
    /// How the ledger has it.
    pub(super) rebuilt: Option<String>,
}

const VERSION: &str = "version";
const EMITTED: &str = "emitted";

/// How the live document differs from the rebuilt one; not at all when nothing is answered.
pub(super) fn documents(
    kept: &Kept,
    live: Option<&Document>,
    rebuilt: Option<&Document>,
) -> Option<Difference> {
    let (live, rebuilt) = match (live, rebuilt) {
        (None, None) => return None,
        (None, Some(_)) => return Some(Difference::Missing),
        (Some(_), None) => return Some(Difference::Extra),
        (Some(live), Some(rebuilt)) => (live, rebuilt),
    };
    let Ok(known) = (kept.known)(live) else {
        let unreadable = Field {
            name: "(unreadable)".to_owned(),
            live: None,
            rebuilt: None,
        };
        return Some(Difference::Fields(vec![unreadable]));
    };
    let mut fields = Vec::new();
    for (name, wanted) in rebuilt {
        let skipped = kept.operational.contains(&name.as_str());
        if skipped || [VERSION, EMITTED].contains(&name.as_str()) {
            continue;
        }
        differ(name, known.get(name), wanted, &mut fields);
    }
    let remembered = emitted(&known);
    if owes(kept, rebuilt)
        .iter()
        .any(|key| !remembered.contains(key))
    {
        fields.push(Field {
            name: EMITTED.to_owned(),
            live: None,
            rebuilt: None,
        });
    }
    (!fields.is_empty()).then_some(Difference::Fields(fields))
}

fn differ(name: &str, live: Option<&Bson>, rebuilt: &Bson, fields: &mut Vec<Field>) {
    if live == Some(rebuilt) {
        return;
    }
    if let (Some(Bson::Document(live)), Bson::Document(rebuilt)) = (live, rebuilt) {
        for (inner, wanted) in rebuilt {
            differ(&format!("{name}.{inner}"), live.get(inner), wanted, fields);
        }
        return;
    }
    fields.push(Field {
        name: name.to_owned(),
        live: live.and_then(|value| shown(name, value)),
        rebuilt: shown(name, rebuilt),
    });
}

/// A value that shows nothing personal: yes or no, a count, the word of a state.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other BSON type is not shown"
)]
fn shown(name: &str, value: &Bson) -> Option<String> {
    let last = name.rsplit('.').next().unwrap_or(name);
    match value {
        Bson::Boolean(is) => Some(is.to_string()),
        Bson::Int32(number) => Some(number.to_string()),
        Bson::Int64(number) => Some(number.to_string()),
        Bson::Null => Some("none".to_owned()),
        Bson::String(word) if ["status", "state", "paymentStatus"].contains(&last) => {
            Some(word.clone())
        }
        _ => None,
    }
}

/// The keys of effects that a document remembers.
pub(super) fn emitted(document: &Document) -> BTreeSet<String> {
    let keys = document.get_array(EMITTED).into_iter().flatten();
    let keys = keys.filter_map(Bson::as_str);
    keys.map(str::to_owned).collect()
}

fn owes(kept: &Kept, rebuilt: &Document) -> BTreeSet<String> {
    match kept.owes {
        Some(owes) => owes(rebuilt).into_iter().collect(),
        None => emitted(rebuilt),
    }
}

/// A purchase that grants nothing in the end owes only that it is in conflict: whether it
/// was granted for a while depends on the order.
pub(super) fn purchase_owes(rebuilt: &Document) -> Vec<String> {
    let mut keys = emitted(rebuilt);
    if rebuilt.get_str("userId").is_err() {
        let account = rebuilt.get_str("account").ok();
        let book = Book::new(account, rebuilt.get_bool("livemode").unwrap_or(false));
        let id = rebuilt.get_str("purchaseId").unwrap_or_default();
        let conflict = book.key(&format!("conflict:{id}"));
        keys.retain(|key| *key == conflict);
    }
    keys.into_iter().collect()
}

/// The fields to write so that the live document becomes the rebuilt one: those that
/// differ, and every effect that either of them remembers.
pub(super) fn fields(kept: &Kept, live: Option<&Document>, rebuilt: &Document) -> Document {
    let mut fields = rebuilt.clone();
    for name in ["_id", VERSION] {
        fields.remove(name);
    }
    // What is gone altogether begins anew, with what the replay came to.
    let Some(live) = live else { return fields };
    for name in kept.operational {
        fields.remove(name);
    }
    if fields.contains_key(EMITTED) {
        let mut keys = emitted(live);
        keys.extend(owes(kept, rebuilt));
        let keys: Vec<Bson> = keys.into_iter().map(Bson::String).collect();
        fields.insert(EMITTED, keys);
    }
    let same = |name: &str, value: &Bson| live.get(name) == Some(value);
    fields
        .into_iter()
        .filter(|(name, value)| !same(name, value))
        .collect()
}

#[cfg(test)]
mod tests;
