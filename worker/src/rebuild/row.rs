//! What one row of the ledger counts for: pure, except that it is read here from raw.

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use hookledger_shared::model::event::{LedgerEvent, Outcome, Status};

use crate::handler::RejectKind;

/// What a row has done to the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// All that its rule says.
    Applied,
    /// It was rejected, and what was true all the same was written.
    Recorded(RejectKind),
    /// Nothing so far.
    Open,
    /// Nothing, and nothing will come.
    Done,
}

/// A row, as far as it can be read.
pub(super) struct Row {
    pub(super) id: ObjectId,
    pub(super) role: Role,
    /// Whether more may come of it.
    pub(super) is_final: bool,
    /// The event, or why it can't be read.
    pub(super) event: Result<LedgerEvent, String>,
    /// For people: the event's id, as far as it can be read.
    pub(super) name: String,
}

/// The rejections that write down what is true all the same.
fn recording(kind: &str) -> Option<RejectKind> {
    let all = [
        RejectKind::Unreadable,
        RejectKind::UnknownSku,
        RejectKind::UnlinkedPurchase,
        RejectKind::AmountMismatch,
    ];
    let found = all.into_iter().find(|known| known.as_str() == kind)?;
    match found {
        RejectKind::UnknownSku | RejectKind::UnlinkedPurchase | RejectKind::AmountMismatch => {
            Some(found)
        }
        RejectKind::Unreadable => None,
    }
}

impl Row {
    /// Reads a row; none when it has not even an id of ours.
    pub(super) fn read(raw: &RawDocumentBuf) -> Option<Self> {
        let id = raw.get_object_id("_id").ok()?;
        let text = |name| raw.get_str(name).ok();
        let last_error = raw.get_document("lastError").ok();
        let kind = last_error.and_then(|error| error.get_str("kind").ok());
        let (role, is_final) = role(text("status"), text("outcome"), kind);
        Some(Self {
            id,
            role,
            is_final,
            event: bson::deserialize_from_slice(raw.as_bytes()).map_err(|error| error.to_string()),
            name: text("eventId").map_or_else(|| id.to_string(), str::to_owned),
        })
    }
}

/// What a row counts for by how it stands, and whether that is its end. A dead letter that
/// was put back keeps its last error, so what it recorded still counts.
fn role(status: Option<&str>, outcome: Option<&str>, kind: Option<&str>) -> (Role, bool) {
    let recorded = kind.and_then(recording).map(Role::Recorded);
    if status != Some(Status::Processed.as_str()) {
        return (recorded.unwrap_or(Role::Open), false);
    }
    let is = |wanted: Outcome| outcome == Some(wanted.as_str());
    if is(Outcome::Applied) || is(Outcome::Stale) {
        (Role::Applied, true)
    } else if is(Outcome::Discarded) {
        (recorded.unwrap_or(Role::Done), true)
    } else {
        (Role::Done, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_counts_for_what_it_wrote() {
        let mismatch = Role::Recorded(RejectKind::AmountMismatch);
        for (status, outcome, kind, expected) in [
            ("processed", Some("applied"), None, (Role::Applied, true)),
            ("processed", Some("stale"), None, (Role::Applied, true)),
            ("processed", Some("ignored"), None, (Role::Done, true)),
            ("processed", Some("forwarded"), None, (Role::Done, true)),
            ("processed", Some("discarded"), None, (Role::Done, true)),
            (
                "processed",
                Some("discarded"),
                Some("amount_mismatch"),
                (mismatch, true),
            ),
            ("dead", None, Some("amount_mismatch"), (mismatch, false)),
            ("dead", None, Some("crashed"), (Role::Open, false)),
            ("dead", None, Some("unreadable"), (Role::Open, false)),
            ("received", None, Some("amount_mismatch"), (mismatch, false)),
            ("received", None, None, (Role::Open, false)),
            ("processing", None, None, (Role::Open, false)),
        ] {
            assert_eq!(role(Some(status), outcome, kind), expected, "{status}");
        }
    }
}
