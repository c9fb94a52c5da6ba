//! Rows that this version can't read, whoever wrote them. Claimed or found by a rescue, such
//! a row would come back for ever and hold up others; it becomes a dead letter instead.

use std::time::Duration;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document, doc};
use mongodb::Collection;
use serde::de::DeserializeOwned;

use super::error::{StoreError, within};
use super::events::Failure;
use super::pipeline::{last_error, literal};
use crate::model::event::Status;

/// The dead letter's kind.
const KIND: &str = "unreadable_row";

/// The row as its type, when it can be read.
pub(super) fn read<T: DeserializeOwned>(row: &RawDocumentBuf) -> Result<T, bson::error::Error> {
    bson::deserialize_from_slice(row.as_bytes())
}

/// Buries a row that can't be read, as it was found: not if it has been moved since. Its
/// counts go, since they may be what can't be read; its epoch stays.
pub(super) async fn bury(
    rows: &Collection<Document>,
    row: &RawDocumentBuf,
    error: &bson::error::Error,
    limit: Duration,
) -> Result<(), StoreError> {
    let id = field(row, "_id")?;
    tracing::error!(collection = rows.name(), row = %id, %error, "a row can't be read; it is a dead letter");
    let as_found = doc! {
        "_id": { "$eq": id },
        "status": { "$eq": field(row, "status")? },
        "epoch": { "$eq": field(row, "epoch")? },
        "lease": { "$eq": field(row, "lease")? },
    };
    let failure = Failure {
        kind: KIND.to_owned(),
        message: error.to_string(),
    };
    let dead = vec![
        doc! { "$set": {
            // The word is the same in the ledger and in the outbox.
            "status": literal(Status::Dead.as_str()),
            "deadAt": "$$NOW",
            "lastError": last_error(&failure),
            "attempts": 0,
            "crashes": 0,
        } },
        doc! { "$unset": ["lease", "deferrals", "dueAt"] },
    ];
    let buried = rows.update_one(as_found, dead);
    within(limit, async { buried.await }).await?;
    Ok(())
}

/// A field as it stands; null, which also matches its absence, when it is not there.
fn field(row: &RawDocumentBuf, name: &str) -> Result<Bson, StoreError> {
    let unexpected = |error| StoreError::Unexpected(format!("{name} of a stored row: {error}"));
    let value = row
        .get(name)
        .map_err(|error| unexpected(error.to_string()))?;
    value.map_or(Ok(Bson::Null), |value: RawBsonRef<'_>| {
        Bson::try_from(value).map_err(|error| unexpected(error.to_string()))
    })
}
