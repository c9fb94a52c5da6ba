//! Leaving `processing`: inside the domain transaction (the fence and what follows it) or
//! outside (release, retry, defer, bury). Each answers whether the claim still held.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::ClientSession;
use mongodb::error::Error;

use super::Events;
use crate::model::event::{LedgerEvent, Outcome, Status};
use crate::model::lease::{Claim, Transition};
use crate::store::error::{StoreError, within};
use crate::store::leased;
use crate::store::pipeline::{last_error, literal, millis};

/// What went wrong, as the row keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A short word to filter on.
    pub kind: String,
    /// A sentence for people; never a body or a secret.
    pub message: String,
}

/// How a claim ends outside the domain transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Shutdown or trouble with the database: due now, nothing counted.
    Release,
    /// A handler fault: one attempt more, due after the backoff.
    Retry {
        /// How long to wait.
        after: Duration,
        /// What went wrong.
        failure: Failure,
    },
    /// Something is missing: one deferral more, due after a while.
    Defer {
        /// How long to wait.
        after: Duration,
        /// What it waits for.
        waits_for: String,
    },
    /// Given up.
    Bury {
        /// Why.
        failure: Failure,
        /// Whether a handler fault was the reason: then it is one attempt more.
        fault: bool,
    },
    /// Done without any effect, so without a transaction.
    Conclude {
        /// The outcome.
        outcome: Outcome,
        /// How long the row is kept.
        retention: Duration,
    },
}

/// How a row stands towards a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Still claimed by it.
    Held,
    /// Ended under it: the commit took place.
    Committed,
    /// Taken back, or claimed by somebody else.
    Lost,
}

impl Events {
    /// The first write of the domain transaction: the event's own row becomes `processed`.
    /// False when the claim no longer holds; then the transaction must be aborted. A fence
    /// that is only read does not fence.
    pub async fn fence(&self, session: &mut ClientSession, claim: &Claim) -> Result<bool, Error> {
        let update = vec![
            doc! { "$set": { "status": literal(Status::Processed.as_str()), "processedAt": "$$NOW" } },
            doc! { "$unset": "lease" },
        ];
        let fenced = self
            .raw
            .update_one(leased::held(Status::Processing.as_str(), claim), update)
            .session(session);
        Ok(fenced.await?.modified_count == 1)
    }

    /// The second write of that row, once the handler has decided: its outcome, and when
    /// the row may go.
    pub async fn conclude(
        &self,
        session: &mut ClientSession,
        claim: &Claim,
        outcome: Outcome,
        retention: Duration,
    ) -> Result<(), Error> {
        let update = vec![
            doc! { "$set": {
                "outcome": literal(outcome.as_str()),
                "expireAt": { "$add": ["$$NOW", millis(retention)] },
            } },
            doc! { "$unset": ["lastError", "waitsFor"] },
        ];
        self.after_fence(session, claim, update).await
    }

    /// The second write for a rejection that also records something: `dead`, with its
    /// domain writes.
    pub async fn conclude_dead(
        &self,
        session: &mut ClientSession,
        claim: &Claim,
        failure: &Failure,
    ) -> Result<(), Error> {
        let update = vec![
            doc! { "$set": {
                "status": literal(Status::Dead.as_str()),
                "deadAt": "$$NOW",
                "lastError": last_error(failure),
            } },
            doc! { "$unset": ["processedAt", "waitsFor"] },
        ];
        self.after_fence(session, claim, update).await
    }

    async fn after_fence(
        &self,
        session: &mut ClientSession,
        claim: &Claim,
        update: Vec<Document>,
    ) -> Result<(), Error> {
        let fenced = doc! {
            "_id": claim.id,
            "status": Status::Processed.as_str(),
            "epoch": claim.epoch,
        };
        let concluded = self.raw.update_one(fenced, update).session(session).await?;
        if concluded.modified_count == 1 {
            return Ok(());
        }
        // Impossible inside the transaction that fenced it; never commit on a surprise.
        Err(Error::custom("the fenced event row could not be concluded"))
    }

    /// Ends a claim outside the transaction.
    pub async fn end(&self, claim: &Claim, ending: &Ending) -> Result<Transition, StoreError> {
        let back = |after: Duration| doc! { "status": literal(Status::Received.as_str()), "dueAt": { "$add": ["$$NOW", millis(after)] } };
        let set = match ending {
            Ending::Release => back(Duration::ZERO),
            Ending::Retry { after, failure } => {
                let mut set = back(*after);
                set.insert("attempts", doc! { "$add": ["$attempts", 1] });
                set.insert("lastError", last_error(failure));
                set
            }
            Ending::Defer { after, waits_for } => {
                let mut set = back(*after);
                set.insert("deferrals", doc! { "$add": ["$deferrals", 1] });
                set.insert("waitsFor", literal(waits_for.as_str()));
                set
            }
            Ending::Bury { failure, fault } => doc! {
                "status": literal(Status::Dead.as_str()),
                "deadAt": "$$NOW",
                "attempts": { "$add": ["$attempts", i32::from(*fault)] },
                "lastError": last_error(failure),
            },
            Ending::Conclude { outcome, retention } => doc! {
                "status": literal(Status::Processed.as_str()),
                "processedAt": "$$NOW",
                "outcome": literal(outcome.as_str()),
                "expireAt": { "$add": ["$$NOW", millis(*retention)] },
                "lastError": "$$REMOVE",
                "waitsFor": "$$REMOVE",
            },
        };
        let guard = leased::held(Status::Processing.as_str(), claim);
        leased::leave(&self.raw, guard, set, self.limit).await
    }

    /// What these events waited for has arrived: they are due now.
    pub async fn arrived(&self, what: &[String]) -> Result<u64, StoreError> {
        let waiting = doc! { "status": Status::Received.as_str(), "waitsFor": { "$in": what } };
        let due = vec![doc! { "$set": { "dueAt": "$$NOW" } }];
        let woken = self.raw.update_many(waiting, due);
        Ok(within(self.limit, async { woken.await })
            .await?
            .modified_count)
    }

    /// Reads the row again, as a majority knows it.
    async fn reread(&self, claim: &Claim) -> Result<Option<LedgerEvent>, StoreError> {
        let read = self
            .collection
            .find_one(doc! { "_id": claim.id })
            .read_concern(mongodb::options::ReadConcern::majority());
        within(self.limit, async { read.await }).await
    }

    /// How the row stands towards `claim`, as a majority knows it. For when a commit's result
    /// is not known, or a fence matched nothing.
    pub async fn standing(&self, claim: &Claim) -> Result<Standing, StoreError> {
        let Some(row) = self.reread(claim).await? else {
            return Ok(Standing::Lost);
        };
        let ours = row.epoch == claim.epoch;
        Ok(match row.status {
            Status::Processing if ours && row.claim().as_ref() == Some(claim) => Standing::Held,
            Status::Processed | Status::Dead if ours => Standing::Committed,
            Status::Processing | Status::Processed | Status::Dead | Status::Received => {
                Standing::Lost
            }
        })
    }
}
