//! The outbox: effects to deliver, unique by key and destination.
//!
//! `enqueue` runs inside the domain transaction; `claim`, `finish` and `rescue` are the
//! deliverer's; `operate` is the operators'.

mod claim;
mod enqueue;
mod finish;
mod operate;

use std::time::Duration;

use bson::{Document, doc};
use mongodb::{Collection, Database};

pub use finish::{MessageEnding, SentAs};
pub use operate::DeadMessage;

use super::index::{Index, Wanted};
use crate::model::outbox::MessageStatus;

/// The `outbox` collection.
#[derive(Debug, Clone)]
pub struct Outbox {
    raw: Collection<Document>,
    limit: Duration,
}

impl Outbox {
    /// Its name.
    pub const NAME: &'static str = "outbox";
    const PENDING: &'static str = "pending";
    const LEASED: &'static str = crate::store::leased::INDEX;
    const DEAD: &'static str = "dead";

    pub(super) fn new(database: &Database, limit: Duration) -> Self {
        Self {
            raw: database.collection(Self::NAME),
            limit,
        }
    }

    /// Its indexes: one claim loop a destination, over what is pending only.
    #[must_use]
    pub fn wanted() -> Wanted {
        let only = |status: MessageStatus| doc! { "status": status.as_str() };
        Wanted {
            collection: Self::NAME,
            indexes: vec![
                Index::new("identity", doc! { "key": 1, "destination": 1 }).unique(),
                Index::new(Self::PENDING, doc! { "destination": 1, "dueAt": 1 })
                    .partial(only(MessageStatus::Pending)),
                Index::new(Self::LEASED, doc! { "lease.until": 1 })
                    .partial(only(MessageStatus::Sending)),
                Index::new(Self::DEAD, doc! { "deadAt": 1 }).partial(only(MessageStatus::Dead)),
                Index::new("cause", doc! { "causedBy.eventId": 1 }),
                Index::new("expiry", doc! { "expireAt": 1 })
                    .partial(only(MessageStatus::Sent))
                    .expires(),
            ],
        }
    }
}
