//! Claiming messages of one destination, renewing a claim while a send is long, and
//! bringing back what a worker died with.

use std::time::Duration;

use bson::doc;
use bson::raw::RawDocumentBuf;
use mongodb::options::ReturnDocument;

use super::Outbox;
use crate::model::lease::{Claim, Transition};
use crate::model::outbox::{MessageStatus, OutboxMessage};
use crate::store::error::{StoreError, within};
use crate::store::events::{ClaimTerms, Failure};
use crate::store::leased::{self, Expired};
use crate::store::pipeline::{last_error, literal, millis};
use crate::store::unreadable;

impl Outbox {
    /// Claims the oldest message that is due for `destination`, by the database's clock. A
    /// row that can't be read is buried, and the next is claimed.
    pub async fn claim(
        &self,
        destination: &str,
        terms: &ClaimTerms,
    ) -> Result<Option<OutboxMessage>, StoreError> {
        while let Some(row) = self.take(destination, terms).await? {
            match unreadable::read(&row) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => unreadable::bury(&self.raw, &row, &error, self.limit).await?,
            }
        }
        Ok(None)
    }

    async fn take(
        &self,
        destination: &str,
        terms: &ClaimTerms,
    ) -> Result<Option<RawDocumentBuf>, StoreError> {
        let due = doc! {
            "destination": destination,
            "status": MessageStatus::Pending.as_str(),
            "$expr": { "$lte": ["$dueAt", "$$NOW"] },
        };
        let take = vec![
            doc! { "$set": {
                "status": literal(MessageStatus::Sending.as_str()),
                "epoch": { "$add": ["$epoch", 1_i64] },
                "lease": {
                    "owner": literal(&*terms.owner),
                    "until": { "$add": ["$$NOW", millis(terms.lease)] },
                },
            } },
            doc! { "$unset": "dueAt" },
        ];
        // At majority, unlike an event's claim: what is sent can't be taken back, so it
        // must not be sent under a claim that an election undoes.
        let rows = self.raw.clone_with_type::<RawDocumentBuf>();
        let claim = rows
            .find_one_and_update(due, take)
            .sort(doc! { "dueAt": 1 })
            .return_document(ReturnDocument::After);
        within(self.limit, async { claim.await }).await
    }

    /// Holds a claim longer.
    pub async fn renew(&self, claim: &Claim, lease: Duration) -> Result<Transition, StoreError> {
        let longer = vec![doc! { "$set": { "lease.until": { "$add": ["$$NOW", millis(lease)] } } }];
        let renewed = self
            .raw
            .update_one(leased::held(MessageStatus::Sending.as_str(), claim), longer);
        let renewed = within(self.limit, async { renewed.await }).await?;
        Ok(leased::transition(renewed.matched_count))
    }

    /// Messages whose lease is over, the longest first.
    pub async fn expired(&self, page: i64) -> Result<Vec<Expired>, StoreError> {
        leased::page(&self.raw, MessageStatus::Sending.as_str(), page, self.limit).await
    }

    /// Puts an expired message back, or buries it when its worker died once too often.
    /// Whether the destination took it is not known, and the trail says so.
    pub async fn rescue(
        &self,
        expired: &Expired,
        crashed: bool,
        bury: Option<&Failure>,
    ) -> Result<Transition, StoreError> {
        let guard = leased::expired(MessageStatus::Sending.as_str(), &expired.claim());
        let crashes = i32::from(crashed);
        let mut set = doc! {
            "crashes": { "$add": [{ "$ifNull": ["$crashes", 0] }, crashes] },
            "trail": super::finish::trail("unknown: its worker stopped while sending"),
        };
        match bury {
            None => {
                set.insert("status", literal(MessageStatus::Pending.as_str()));
                set.insert("dueAt", "$$NOW");
            }
            Some(failure) => {
                set.insert("status", literal(MessageStatus::Dead.as_str()));
                set.insert("deadAt", "$$NOW");
                set.insert("lastError", last_error(failure));
            }
        }
        leased::leave(&self.raw, guard, set, self.limit).await
    }

    /// Puts back everything `owner` still holds: the last act of a shutdown.
    pub async fn release_all(&self, owner: &str) -> Result<u64, StoreError> {
        let back = doc! {
            "status": literal(MessageStatus::Pending.as_str()),
            "dueAt": "$$NOW",
            "trail": super::finish::trail("unknown: its worker was shut down while sending"),
        };
        let sending = MessageStatus::Sending.as_str();
        leased::leave_all(&self.raw, sending, owner, back, self.limit).await
    }
}
