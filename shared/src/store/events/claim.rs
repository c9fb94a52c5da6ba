//! Claiming: what waits and is due, the oldest first. Claims never look at expired leases:
//! one row held by a dead worker's open transaction at the head of a combined query would
//! stop every claimer. The rescuer brings those back.

use std::sync::Arc;
use std::time::Duration;

use bson::raw::RawDocumentBuf;
use bson::{Bson, doc};
use mongodb::options::{Acknowledgment, ReturnDocument, WriteConcern};

use super::Events;
use crate::model::event::{LedgerEvent, Status};
use crate::store::error::{StoreError, within};
use crate::store::pipeline::{literal, millis};
use crate::store::transaction::Slot;
use crate::store::unreadable;

/// Under what terms a worker claims.
#[derive(Debug, Clone)]
pub struct ClaimTerms {
    /// The process, unique per start.
    pub owner: Arc<str>,
    /// How long nobody else may take the row.
    pub lease: Duration,
}

impl Events {
    /// Claims the oldest event that is due, by the database's clock. On the slot's session,
    /// so that the transaction that follows can't miss this claim; w:1, since a claim that
    /// is lost with its primary was never fenced in. A row that can't be read is buried, and
    /// the next is claimed.
    pub async fn claim(
        &self,
        slot: &mut Slot,
        terms: &ClaimTerms,
    ) -> Result<Option<LedgerEvent>, StoreError> {
        while let Some(row) = self.take(slot, terms).await? {
            match unreadable::read(&row) {
                Ok(event) => return Ok(Some(event)),
                Err(error) => unreadable::bury(&self.raw, &row, &error, self.limit).await?,
            }
        }
        Ok(None)
    }

    async fn take(
        &self,
        slot: &mut Slot,
        terms: &ClaimTerms,
    ) -> Result<Option<RawDocumentBuf>, StoreError> {
        let session_id = slot.id().map_or(Bson::Null, Bson::Binary);
        let due = doc! {
            "status": Status::Received.as_str(),
            "$expr": { "$lte": ["$dueAt", "$$NOW"] },
        };
        let take = vec![
            doc! { "$set": {
                "status": literal(Status::Processing.as_str()),
                "epoch": { "$add": ["$epoch", 1_i64] },
                "lease": {
                    "owner": literal(&*terms.owner),
                    "until": { "$add": ["$$NOW", millis(terms.lease)] },
                    "session": literal(session_id),
                },
            } },
            doc! { "$unset": "dueAt" },
        ];
        let rows = self.raw.clone_with_type::<RawDocumentBuf>();
        let claim = rows
            .find_one_and_update(due, take)
            .sort(doc! { "dueAt": 1 })
            .return_document(ReturnDocument::After)
            .write_concern(WriteConcern::builder().w(Acknowledgment::Nodes(1)).build())
            .session(slot.session());
        // A claim that a frozen primary holds is given up as soon as that is known; if it was
        // made all the same, its lease runs out.
        let claimed = within(self.limit, async { claim.await });
        match self.primary.unless_lost(claimed).await {
            Some(claimed) => claimed,
            None => Err(StoreError::PrimaryLost),
        }
    }
}
