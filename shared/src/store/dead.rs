//! Dead letters of both kinds: which ones an operator means, and how lists show them.

use std::time::Duration;

use bson::raw::RawDocumentBuf;
use bson::{DateTime, Document, doc};
use futures::TryStreamExt;
use mongodb::Collection;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{StoreError, within};
use super::unreadable;
use crate::model::event::{LastError, Status};

/// A date for people and for JSON.
pub(crate) fn rfc3339<S: serde::Serializer>(date: &DateTime, to: S) -> Result<S::Ok, S::Error> {
    let text = date.try_to_rfc3339_string();
    to.serialize_str(text.as_deref().unwrap_or("out of range"))
}

/// A last error for JSON.
pub(crate) fn error_json<S: serde::Serializer>(
    error: &Option<LastError>,
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Shown<'a> {
        kind: &'a str,
        message: &'a str,
        at: String,
    }
    let shown = error.as_ref().map(|error| Shown {
        kind: &error.kind,
        message: &error.message,
        at: error.at.try_to_rfc3339_string().unwrap_or_default(),
    });
    shown.serialize(to)
}

/// Which dead letters: each part that is given must match.
#[derive(Debug, Clone, Default)]
pub struct DeadFilter {
    /// The kind of the last error.
    pub kind: Option<String>,
    /// The event's type, or the message's topic.
    pub about: Option<String>,
    /// The event's source, or the message's destination.
    pub place: Option<String>,
}

impl DeadFilter {
    /// The query, on rows of a collection whose fields for `about` and `place` are given.
    pub(crate) fn query(&self, about: &str, place: &str) -> Document {
        let mut query = doc! { "status": Status::Dead.as_str() };
        let parts = [
            ("lastError.kind", &self.kind),
            (about, &self.about),
            (place, &self.place),
        ];
        for (field, wanted) in parts {
            if let Some(wanted) = wanted {
                query.insert(field, doc! { "$eq": wanted });
            }
        }
        query
    }
}

/// The newest dead letters that match, without what `projection` leaves out. One that can't
/// even be listed is logged and hides no other.
pub(super) async fn newest<T: DeserializeOwned + Send + Sync>(
    rows: &Collection<Document>,
    query: Document,
    projection: Document,
    page: i64,
    limit: Duration,
) -> Result<Vec<T>, StoreError> {
    let raw = rows.clone_with_type::<RawDocumentBuf>();
    let found = raw
        .find(query)
        .sort(doc! { "deadAt": -1 })
        .projection(projection)
        .limit(page);
    let found: Vec<_> = within(limit, async { found.await?.try_collect().await }).await?;
    let listed = found.iter().filter_map(|row| {
        let unlisted = |error| {
            let id = row.get("_id").ok().flatten();
            tracing::error!(row = ?id, %error, "a dead letter can't be listed");
        };
        unreadable::read(row).map_err(unlisted).ok()
    });
    Ok(listed.collect())
}
