//! Bringing back what a worker died with: a page of expired leases at a time, the dead
//! worker's session killed first, each transition with a short time limit so that one
//! locked row delays nobody.

use std::time::Duration;

use bson::{Document, doc};

use super::{Events, Failure};
use crate::model::event::Status;
use crate::model::lease::Transition;
use crate::store::error::{StoreError, code, within};
use crate::store::leased::{self, Expired};
use crate::store::pipeline::{last_error, literal};

/// How long a rescue of one row may wait for a lock.
const ROW_LIMIT: Duration = Duration::from_millis(500);
/// `MaxTimeMSExpired`.
const OUT_OF_TIME: i32 = 50;

impl Events {
    /// Rows whose lease is over, the longest first.
    pub async fn expired(&self, page: i64) -> Result<Vec<Expired>, StoreError> {
        leased::page(&self.raw, Status::Processing.as_str(), page, self.limit).await
    }

    /// Puts an expired row back, due now. `LeaseLost` when it moved meanwhile, `None` when
    /// it is still locked: the next round tries again.
    pub async fn rescue(
        &self,
        expired: &Expired,
        crashed: bool,
    ) -> Result<Option<Transition>, StoreError> {
        let mut set = doc! { "status": literal(Status::Received.as_str()), "dueAt": "$$NOW" };
        if crashed {
            set.insert("crashes", doc! { "$add": ["$crashes", 1] });
        }
        self.bring_back(expired, set).await
    }

    /// Buries an expired row whose worker died once too often.
    pub async fn bury_crashed(
        &self,
        expired: &Expired,
        failure: &Failure,
    ) -> Result<Option<Transition>, StoreError> {
        let set = doc! {
            "status": literal(Status::Dead.as_str()),
            "deadAt": "$$NOW",
            "crashes": { "$add": ["$crashes", 1] },
            "lastError": last_error(failure),
        };
        self.bring_back(expired, set).await
    }

    async fn bring_back(
        &self,
        expired: &Expired,
        set: Document,
    ) -> Result<Option<Transition>, StoreError> {
        let filter = leased::expired(Status::Processing.as_str(), &expired.claim());
        let back = self
            .raw
            .find_one_and_update(
                filter,
                vec![doc! { "$set": set }, doc! { "$unset": "lease" }],
            )
            .projection(doc! { "_id": 1 })
            .max_time(ROW_LIMIT);
        match within(self.limit, async { back.await }).await {
            Ok(Some(_)) => Ok(Some(Transition::Done)),
            Ok(None) => Ok(Some(Transition::LeaseLost)),
            Err(StoreError::Database(error)) if code(&error) == Some(OUT_OF_TIME) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What `owner` holds.
    pub async fn held_by(&self, owner: &str) -> Result<Vec<Expired>, StoreError> {
        leased::of(&self.raw, Status::Processing.as_str(), owner, self.limit).await
    }

    /// Puts back everything `owner` still holds: the last act of a shutdown.
    pub async fn release_all(&self, owner: &str) -> Result<u64, StoreError> {
        let back = doc! { "status": literal(Status::Received.as_str()), "dueAt": "$$NOW" };
        let processing = Status::Processing.as_str();
        leased::leave_all(&self.raw, processing, owner, back, self.limit).await
    }
}
