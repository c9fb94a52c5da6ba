//! Indexes: what each collection wants, what the server has, what would have to change.
//! The boot compares `listIndexes`, never what `createIndex` answered: an index with the
//! same keys but not unique lets `createIndex` succeed and stands beside the right one.

use std::fmt;
use std::time::Duration;

use bson::{Bson, Document, doc};
use futures::TryStreamExt;
use mongodb::error::Error;
use mongodb::{Collection, Database};

use super::error::{DUPLICATE_KEY, StoreError, code, within};

/// An index as a collection wants it.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Its name, by which operators know it.
    pub name: &'static str,
    /// Its keys, in order.
    pub keys: Document,
    /// Whether two documents may not have the same keys.
    pub unique: bool,
    /// Only documents that match are in it.
    pub partial: Option<Document>,
    /// Documents are deleted this long after the date in its key.
    pub expire_after: Option<Duration>,
}

impl Index {
    /// A plain index.
    #[must_use]
    pub fn new(name: &'static str, keys: Document) -> Self {
        Self {
            name,
            keys,
            unique: false,
            partial: None,
            expire_after: None,
        }
    }

    /// By one field within each book: what operators and rules look documents up by.
    #[must_use]
    pub fn in_book(name: &'static str, field: &str) -> Self {
        Self::new(name, doc! { "account": 1, "livemode": 1, field: 1 })
    }

    /// No two documents with the same keys.
    #[must_use]
    pub fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// Only documents that match `filter`.
    #[must_use]
    pub fn partial(mut self, filter: Document) -> Self {
        self.partial = Some(filter);
        self
    }

    /// Documents go when the date in the key has come.
    #[must_use]
    pub fn expires(mut self) -> Self {
        self.expire_after = Some(Duration::ZERO);
        self
    }

    fn command(&self) -> Document {
        let mut spec = doc! { "name": self.name, "key": self.keys.clone() };
        if self.unique {
            spec.insert("unique", true);
        }
        if let Some(partial) = &self.partial {
            spec.insert("partialFilterExpression", partial.clone());
        }
        if let Some(after) = self.expire_after {
            spec.insert("expireAfterSeconds", seconds(after));
        }
        spec
    }
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

/// A collection's name and the indexes it wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The collection.
    pub collection: &'static str,
    /// Its indexes, without the one on `_id`.
    pub indexes: Vec<Index>,
}

/// What one index needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Not there: `apply` makes it.
    Create(Index),
    /// There, but different: only an operator can decide to drop it.
    Conflict {
        /// The index that is in the way.
        found: String,
        /// What is wanted instead.
        wanted: Index,
        /// What differs.
        why: String,
    },
    /// There, and not ours.
    Extra(String),
}

/// A [`Change`] with its collection, printable.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The collection.
    pub collection: &'static str,
    /// What would happen.
    pub change: Change,
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collection = self.collection;
        match &self.change {
            Change::Create(index) => write!(f, "create    {collection}.{}", index.name),
            Change::Conflict { found, wanted, why } => write!(
                f,
                "conflict  {collection}.{found}: {why}; drop it, then `indexes apply` makes {collection}.{}",
                wanted.name
            ),
            Change::Extra(name) => write!(f, "extra     {collection}.{name}: not ours, left alone"),
        }
    }
}

/// Compares what is wanted with what is there.
pub async fn plan(
    database: &Database,
    wanted: &[Wanted],
    limit: Duration,
) -> Result<Vec<Planned>, StoreError> {
    let mut planned = Vec::new();
    for Wanted {
        collection,
        indexes,
    } in wanted
    {
        let found = listed(&database.collection(collection), limit).await?;
        let changes = compare(indexes, &found).into_iter();
        planned.extend(changes.map(|change| Planned { collection, change }));
    }
    Ok(planned)
}

async fn listed(
    collection: &Collection<Document>,
    limit: Duration,
) -> Result<Vec<Document>, StoreError> {
    let list = async {
        let models: Vec<_> = collection.list_indexes().await?.try_collect().await?;
        Ok(models)
    };
    let models = match within(limit, list).await {
        Ok(models) => models,
        // NamespaceNotFound: the collection is not there yet.
        Err(StoreError::Database(error)) if code(&error) == Some(26) => Vec::new(),
        Err(error) => return Err(error),
    };
    let documents = models.iter().map(bson::serialize_to_document);
    Ok(documents.collect::<Result<_, _>>()?)
}

/// The rule alone: each wanted index against all that were found.
fn compare(wanted: &[Index], found: &[Document]) -> Vec<Change> {
    let mut changes = Vec::new();
    let name = |index: &Document| index.get_str("name").unwrap_or_default().to_owned();
    for want in wanted {
        let same_keys = |index: &&Document| {
            index
                .get_document("key")
                .is_ok_and(|k| same_keys(k, &want.keys))
        };
        let named = found.iter().find(|index| name(index) == want.name);
        match named {
            Some(index) => {
                if let Some(why) = difference(want, index) {
                    changes.push(Change::Conflict {
                        found: name(index),
                        wanted: want.clone(),
                        why,
                    });
                }
            }
            None => changes.push(Change::Create(want.clone())),
        }
        let twin = found.iter().filter(same_keys).find(|index| {
            let ours = wanted.iter().any(|other| name(index) == other.name);
            !ours && (want.unique || difference(want, index).is_none())
        });
        if let Some(twin) = twin {
            changes.retain(
                |change| !matches!(change, Change::Create(index) if index.name == want.name),
            );
            changes.push(Change::Conflict {
                found: name(twin),
                wanted: want.clone(),
                why: "same keys under another name".to_owned(),
            });
        }
    }
    let known = |index: &Document| {
        let name = name(index);
        name == "_id_"
            || wanted.iter().any(|want| want.name == name)
            || changes
                .iter()
                .any(|change| matches!(change, Change::Conflict { found, .. } if *found == name))
    };
    let extra: Vec<_> = found
        .iter()
        .filter(|index| !known(index))
        .map(name)
        .collect();
    changes.extend(extra.into_iter().map(Change::Extra));
    changes
}

fn difference(want: &Index, found: &Document) -> Option<String> {
    if !found
        .get_document("key")
        .is_ok_and(|keys| same_keys(keys, &want.keys))
    {
        return Some("other keys".to_owned());
    }
    let unique = found.get_bool("unique").unwrap_or(false);
    if unique != want.unique {
        let is = if unique { "unique" } else { "not unique" };
        return Some(format!("is {is}"));
    }
    if found.get_document("partialFilterExpression").ok() != want.partial.as_ref() {
        return Some("another partialFilterExpression".to_owned());
    }
    let expires = found.get("expireAfterSeconds").and_then(whole);
    if expires != want.expire_after.map(seconds) {
        return Some(format!("expireAfterSeconds is {expires:?}"));
    }
    None
}

/// Order matters; 1, 1.0 and `NumberLong(1)` are the same.
fn same_keys(a: &Document, b: &Document) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((a_key, a_value), (b_key, b_value))| {
            a_key == b_key
                && (a_value == b_value
                    || (whole(a_value).is_some() && whole(a_value) == whole(b_value)))
        })
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other BSON type is no number"
)]
fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) if number.fract() == 0.0 =>
        {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "an index option, far below 2^53"
            )]
            Some(*number as i64)
        }
        _ => None,
    }
}

/// Why indexes could not be put right.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Documents are in the way of a unique index.
    #[error(
        "{collection}.{index} can't be built: {count} keys stand in more than one document, among them {samples}; remove the duplicates, then start again"
    )]
    Duplicates {
        /// The collection.
        collection: &'static str,
        /// The unique index.
        index: &'static str,
        /// How many samples were found (at most five).
        count: usize,
        /// Some of the keys.
        samples: String,
    },
    /// Indexes are in the way that only an operator can drop.
    #[error("indexes are not as they must be:\n{0}")]
    Conflicts(String),
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes what is missing, then looks again: nothing may be missing or in the way.
/// Idempotent, and safe beside a running version, since it only adds.
pub async fn apply(
    database: &Database,
    wanted: &[Wanted],
    limit: Duration,
) -> Result<Vec<Planned>, IndexError> {
    let done = plan(database, wanted, limit).await?;
    for planned in &done {
        if let Change::Create(index) = &planned.change {
            create(database, planned.collection, index, limit).await?;
        }
    }
    let left = plan(database, wanted, limit).await?;
    let wrong: Vec<_> = left
        .iter()
        .filter(|planned| !matches!(planned.change, Change::Extra(_)))
        .map(ToString::to_string)
        .collect();
    if wrong.is_empty() {
        return Ok(done);
    }
    Err(IndexError::Conflicts(wrong.join("\n")))
}

async fn create(
    database: &Database,
    collection: &'static str,
    index: &Index,
    limit: Duration,
) -> Result<(), IndexError> {
    let command = doc! {
        "createIndexes": collection,
        "indexes": [index.command()],
        "commitQuorum": "majority",
        "writeConcern": { "w": "majority" },
    };
    // Building over a large collection takes its time; the server goes on when we stop.
    let limit = limit.max(BUILD_LIMIT);
    let built = within(limit, async { database.run_command(command).await }).await;
    match built {
        Ok(_) => Ok(()),
        Err(StoreError::Database(error)) if code(&error) == Some(DUPLICATE_KEY) => {
            Err(duplicates(database, collection, index, limit).await)
        }
        // The comparison that follows says what is in the way.
        Err(StoreError::Database(error)) if matches!(code(&error), Some(85 | 86)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// How long a boot waits for an index to be built.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

async fn duplicates(
    database: &Database,
    collection: &'static str,
    index: &Index,
    limit: Duration,
) -> IndexError {
    let keys: Document = index
        .keys
        .keys()
        .map(|key| (key.replace('.', "_"), Bson::String(format!("${key}"))))
        .collect();
    let pipeline = [
        doc! { "$group": { "_id": keys, "count": { "$sum": 1 } } },
        doc! { "$match": { "count": { "$gt": 1 } } },
        doc! { "$limit": 5 },
    ];
    let search = async {
        let rows = database.collection::<Document>(collection);
        let found = rows.aggregate(pipeline);
        let found: Vec<Document> = found.allow_disk_use(true).await?.try_collect().await?;
        Ok::<_, Error>(found)
    };
    match within(limit, search).await {
        Ok(found) => IndexError::Duplicates {
            collection,
            index: index.name,
            count: found.len(),
            samples: found
                .iter()
                .filter_map(|group| group.get("_id"))
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        },
        Err(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Index {
        Index::new("identity", doc! { "eventId": 1, "scope": 1 }).unique()
    }

    fn found(name: &str, keys: Document, unique: bool) -> Document {
        let mut index = doc! { "name": name, "key": keys };
        if unique {
            index.insert("unique", true);
        }
        index
    }

    #[test]
    fn a_missing_index_is_made() {
        let changes = compare(&[wanted()], &[found("_id_", doc! { "_id": 1 }, false)]);
        assert_eq!(changes, [Change::Create(wanted())]);
    }

    #[test]
    fn the_right_index_needs_nothing_whatever_the_type_of_its_numbers() {
        let keys = doc! { "eventId": 1.0, "scope": 1_i64 };
        assert_eq!(compare(&[wanted()], &[found("identity", keys, true)]), []);
    }

    #[test]
    fn the_same_keys_without_unique_are_a_conflict_under_any_name() {
        for name in ["identity", "old"] {
            let changes = compare(&[wanted()], &[found(name, wanted().keys, false)]);
            assert!(
                matches!(&changes[..], [Change::Conflict { found, .. }] if found == name),
                "{changes:?}"
            );
        }
    }

    #[test]
    fn an_index_of_somebody_else_is_only_named() {
        let changes = compare(&[], &[found("theirs", doc! { "x": 1 }, false)]);
        assert_eq!(changes, [Change::Extra("theirs".to_owned())]);
    }

    #[test]
    fn another_order_of_keys_is_another_index() {
        let keys = doc! { "scope": 1, "eventId": 1 };
        let changes = compare(&[wanted()], &[found("identity", keys, true)]);
        assert!(matches!(&changes[..], [Change::Conflict { .. }]));
    }
}
