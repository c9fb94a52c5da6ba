//! Small pieces of pipeline updates.

use std::time::Duration;

use bson::{Bson, Document, doc};

use super::events::Failure;

/// A value inside a pipeline update: an error text that begins with `$` would otherwise be
/// evaluated.
pub(super) fn literal(value: impl Into<Bson>) -> Document {
    doc! { "$literal": value.into() }
}

/// A duration as the server adds it to a date.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A failure as a row keeps it.
pub(super) fn last_error(failure: &Failure) -> Document {
    doc! {
        "kind": literal(failure.kind.as_str()),
        "message": literal(failure.message.as_str()),
        "at": "$$NOW",
    }
}

/// A number of milliseconds that the server computed.
pub(super) fn duration(value: Option<&Bson>) -> Option<Duration> {
    match value {
        Some(Bson::Int64(millis)) => {
            Some(Duration::from_millis(u64::try_from(*millis).unwrap_or(0)))
        }
        Some(_) | None => None,
    }
}
