//! The `subscriptions` collection: one document a subscription at the provider.

use std::time::Duration;

use bson::{Bson, Document, doc};
use mongodb::error::Error;
use mongodb::options::{Hint, ReturnDocument};
use mongodb::{ClientSession, Collection, Database};

use super::documents::Documents;
use super::error::{StoreError, within};
use super::index::{Index, Wanted};
use super::pipeline::millis;
use super::{gauge, leased};
use crate::model::book::Book;
use crate::model::lease::Transition;
use crate::model::subscription::{Check, Subscription};

/// The `subscriptions` collection.
#[derive(Debug, Clone)]
pub struct Subscriptions {
    documents: Documents<Subscription>,
    raw: Collection<Document>,
    limit: Duration,
}

/// Those that the provider will be asked for.
fn planned() -> Document {
    doc! { "nextCheck.dueAt": { "$exists": true } }
}

impl Subscriptions {
    /// Its name.
    pub const NAME: &'static str = "subscriptions";
    const CHECKS: &'static str = "checks";

    pub(super) fn new(database: &Database, limit: Duration) -> Self {
        Self {
            documents: Documents::new(database, Self::NAME),
            raw: database.collection(Self::NAME),
            limit,
        }
    }

    /// Its indexes.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: Self::NAME,
            indexes: vec![
                Index::in_book("customer", "customerId"),
                Index::new(Self::CHECKS, doc! { "livemode": 1, "nextCheck.dueAt": 1 })
                    .partial(planned()),
            ],
        }
    }

    /// The one with this key, as the transaction sees it.
    pub async fn find(
        &self,
        session: &mut ClientSession,
        key: &str,
    ) -> Result<Option<Subscription>, Error> {
        self.documents.find(session, key).await
    }

    /// Every subscription of a customer, as the transaction sees them.
    pub async fn of_customer(
        &self,
        session: &mut ClientSession,
        book: &Book,
        customer: &str,
    ) -> Result<Vec<Subscription>, Error> {
        let filter = doc! {
            "account": &book.account,
            "livemode": book.livemode,
            "customerId": customer,
        };
        self.documents.find_all(session, filter).await
    }

    /// Writes it.
    pub async fn save(
        &self,
        session: &mut ClientSession,
        document: &Subscription,
    ) -> Result<(), Error> {
        self.documents.save(session, &document.id, document).await
    }

    /// Takes the subscription of one mode that has waited longest to be asked for, and puts
    /// its check off by `lease`: until then nobody else asks, and after it somebody does,
    /// whatever becomes of us. One that can't be read is put off, and the next is taken.
    pub async fn claim_check(
        &self,
        livemode: bool,
        lease: Duration,
    ) -> Result<Option<Subscription>, StoreError> {
        let mut due = planned();
        due.insert("livemode", livemode);
        due.insert("$expr", overdue());
        let take = vec![doc! { "$set": {
            "nextCheck.dueAt": { "$add": ["$$NOW", millis(lease)] },
            "nextCheck.tries": { "$add": [{ "$ifNull": ["$nextCheck.tries", 0] }, 1] },
        } }];
        loop {
            let claim = self
                .raw
                .find_one_and_update(due.clone(), take.clone())
                .sort(doc! { "nextCheck.dueAt": 1 })
                .hint(Hint::Name(Self::CHECKS.to_owned()))
                .return_document(ReturnDocument::After);
            let Some(row) = within(self.limit, async { claim.await }).await? else {
                return Ok(None);
            };
            let key = row.get("_id").cloned();
            match bson::deserialize_from_document(row) {
                Ok(subscription) => return Ok(Some(subscription)),
                Err(_) => self.put_off(key).await?,
            }
        }
    }

    /// Its events are dead letters, which somebody looks at; there is no second place.
    async fn put_off(&self, key: Option<Bson>) -> Result<(), StoreError> {
        let later = vec![doc! { "$set": {
            "nextCheck.dueAt": { "$add": ["$$NOW", millis(UNREADABLE)] },
        } }];
        let write = self.raw.update_one(doc! { "_id": key }, later);
        within(self.limit, async { write.await }).await?;
        Ok(())
    }

    /// Plans the next check of a subscription that [`Self::claim_check`] gave, unless an
    /// event or another has written it since: that one has planned it anew.
    pub async fn plan_check(
        &self,
        claimed: &Subscription,
        next: Option<&Check>,
    ) -> Result<Transition, StoreError> {
        let lease = claimed.next_check.as_ref().map(|check| check.due_at);
        let ours = doc! {
            "_id": &claimed.id,
            "version": claimed.version,
            "nextCheck.dueAt": lease,
        };
        let next = bson::serialize_to_bson(&next)?;
        let write = self
            .raw
            .update_one(ours, doc! { "$set": { "nextCheck": next } });
        let written = within(self.limit, async { write.await }).await?;
        Ok(leased::transition(written.matched_count))
    }

    /// How many wait to be asked for, due already; counted up to `cap`.
    pub async fn checks_due(&self, cap: u64) -> Result<u64, StoreError> {
        let mut due = planned();
        // Both modes: an equality on the index's first key.
        due.insert("livemode", doc! { "$in": [true, false] });
        due.insert("$expr", overdue());
        gauge::count(&self.raw, due, Self::CHECKS, cap, self.limit).await
    }
}

fn overdue() -> Document {
    doc! { "$lte": ["$nextCheck.dueAt", "$$NOW"] }
}

/// What a document that can't be read waits before it is looked at again.
const UNREADABLE: Duration = Duration::from_secs(86_400);
