//! What events and outbox messages share while they are leased: the guard of a transition,
//! its answer, and the page of rows whose lease is over.

use std::time::Duration;

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Collection;
use serde::Deserialize;

use super::error::{StoreError, within};
use super::unreadable;
use crate::model::lease::{Claim, Lease, Transition};

/// A row whose lease is over.
#[derive(Debug, Clone, Deserialize)]
pub struct Expired {
    /// The row.
    #[serde(rename = "_id")]
    pub id: ObjectId,
    /// The claim that expired.
    pub epoch: i64,
    /// The lease that expired.
    pub lease: Lease,
    /// How often a worker died with it already.
    #[serde(default)]
    pub crashes: u32,
}

impl Expired {
    /// The claim that expired.
    #[must_use]
    pub fn claim(&self) -> Claim {
        Claim {
            id: self.id,
            epoch: self.epoch,
            owner: self.lease.owner.as_str().into(),
        }
    }
}

/// What a guarded transition matches: this claim of this row, and no later one.
pub(super) fn held(status: &str, claim: &Claim) -> Document {
    doc! {
        "_id": claim.id,
        "status": status,
        "epoch": claim.epoch,
        "lease.owner": &*claim.owner,
    }
}

/// The same, once the lease is over.
pub(super) fn expired(status: &str, claim: &Claim) -> Document {
    let mut filter = held(status, claim);
    filter.insert("$expr", over());
    filter
}

fn over() -> Document {
    doc! { "$lt": ["$lease.until", "$$NOW"] }
}

/// Makes a guarded transition that gives up the lease.
pub(super) async fn leave(
    rows: &Collection<Document>,
    guard: Document,
    set: Document,
    limit: Duration,
) -> Result<Transition, StoreError> {
    let update = vec![doc! { "$set": set }, doc! { "$unset": "lease" }];
    let left = rows.update_one(guard, update);
    let left = within(limit, async { left.await }).await?;
    Ok(transition(left.modified_count))
}

/// What a count of changed rows says of a guarded transition.
pub(super) fn transition(changed: u64) -> Transition {
    if changed == 1 {
        Transition::Done
    } else {
        Transition::LeaseLost
    }
}

/// Makes the transition for everything that `owner` holds.
pub(super) async fn leave_all(
    rows: &Collection<Document>,
    status: &str,
    owner: &str,
    set: Document,
    limit: Duration,
) -> Result<u64, StoreError> {
    let ours = doc! { "status": status, "lease.owner": owner };
    let update = vec![doc! { "$set": set }, doc! { "$unset": "lease" }];
    let hint = mongodb::options::Hint::Name(INDEX.to_owned());
    let left = rows.update_many(ours, update).hint(hint);
    Ok(within(limit, async { left.await }).await?.modified_count)
}

/// The index over `lease.until` of what is leased.
pub(super) const INDEX: &str = "leased";

/// Rows in `status` whose lease is over, the longest first. One that can't be read is
/// buried: at the head of every page it would hold up all rescues.
pub(super) async fn page(
    rows: &Collection<Document>,
    status: &str,
    page: i64,
    limit: Duration,
) -> Result<Vec<Expired>, StoreError> {
    find(
        rows,
        doc! { "status": status, "$expr": over() },
        page,
        limit,
    )
    .await
}

/// Rows in `status` that `owner` holds.
pub(super) async fn of(
    rows: &Collection<Document>,
    status: &str,
    owner: &str,
    limit: Duration,
) -> Result<Vec<Expired>, StoreError> {
    find(
        rows,
        doc! { "status": status, "lease.owner": owner },
        0,
        limit,
    )
    .await
}

async fn find(
    rows: &Collection<Document>,
    filter: Document,
    page: i64,
    limit: Duration,
) -> Result<Vec<Expired>, StoreError> {
    let raw = rows.clone_with_type::<RawDocumentBuf>();
    let found = raw
        .find(filter)
        .sort(doc! { "lease.until": 1 })
        .limit(page)
        .projection(doc! { "status": 1, "epoch": 1, "lease": 1, "crashes": 1 });
    let found: Vec<_> = within(limit, async { found.await?.try_collect().await }).await?;
    let mut readable = Vec::with_capacity(found.len());
    for row in found {
        match unreadable::read(&row) {
            Ok(row) => readable.push(row),
            Err(error) => unreadable::bury(rows, &row, &error, limit).await?,
        }
    }
    Ok(readable)
}
