//! The ledger: one row an event, unique by id, provider and scope.
//!
//! `insert` is ingest's; `claim`, `finish` and `rescue` are the worker's; `operate` is the
//! operators', and so is `replay`, which reads all of it again. Every transition out of
//! `processing` is guarded by the claim.

mod claim;
mod finish;
mod insert;
mod operate;
mod replay;
mod rescue;

use std::time::Duration;

use bson::{Document, doc};
use mongodb::{Collection, Database};

pub use claim::ClaimTerms;
pub use finish::{Ending, Failure, Standing};
pub use insert::Insertion;
pub use operate::DeadRow;

use super::index::{Index, Wanted};
use super::primary::PrimaryWatch;
use crate::model::event::{LedgerEvent, Status};

/// The `events` collection.
#[derive(Debug, Clone)]
pub struct Events {
    collection: Collection<LedgerEvent>,
    raw: Collection<Document>,
    primary: PrimaryWatch,
    limit: Duration,
}

impl Events {
    /// Its name.
    pub const NAME: &'static str = "events";
    /// The index that deduplicates.
    pub const IDENTITY: &'static str = "identity";
    pub(super) const WAITING: &'static str = "waiting";
    pub(super) const LEASED: &'static str = crate::store::leased::INDEX;
    pub(super) const DEAD: &'static str = "dead";

    pub(super) fn new(database: &Database, primary: PrimaryWatch, limit: Duration) -> Self {
        Self {
            collection: database.collection(Self::NAME),
            raw: database.collection(Self::NAME),
            primary,
            limit,
        }
    }

    /// Its indexes. The partial ones hold only what waits, is leased or is dead, so they
    /// stay small however large the ledger grows.
    #[must_use]
    pub fn wanted() -> Wanted {
        let only = |status: Status| doc! { "status": status.as_str() };
        Wanted {
            collection: Self::NAME,
            indexes: vec![
                Index::new(
                    Self::IDENTITY,
                    doc! { "eventId": 1, "provider": 1, "scope": 1 },
                )
                .unique(),
                Index::new(Self::WAITING, doc! { "dueAt": 1 }).partial(only(Status::Received)),
                Index::new(Self::LEASED, doc! { "lease.until": 1 })
                    .partial(only(Status::Processing)),
                Index::new(Self::DEAD, doc! { "deadAt": 1 }).partial(only(Status::Dead)),
                Index::new("expiry", doc! { "expireAt": 1 })
                    .partial(only(Status::Processed))
                    .expires(),
                // Only what was put off because something is missing.
                Index::new("missing", doc! { "waitsFor": 1 }).partial(doc! {
                    "status": Status::Received.as_str(),
                    "waitsFor": { "$exists": true },
                }),
                Index::new("object", doc! { "objectId": 1 }),
                Index::new("customer", doc! { "customerId": 1 }),
            ],
        }
    }
}
