//! Writing one rebuilt document.

use std::time::Duration;

use bson::{Document, doc};
use mongodb::ClientSession;
use mongodb::error::Error;

use super::{By, as_read};
use crate::model::outbox::StateMessage;
use crate::store::transaction::{Slot, TransactionError, Verdict, Work};
use crate::store::{Customers, Stores};

/// A document as it shall stand, and what follows from that.
#[derive(Debug, Clone)]
pub struct Rebuilt {
    /// Its collection.
    pub collection: &'static str,
    /// Its key.
    pub key: String,
    /// Its version when it was read; none when it was not there.
    pub read: Option<i64>,
    /// The version it gets.
    pub version: i64,
    /// The fields that change, without key and version.
    pub fields: Document,
    /// How they stood, for the audit log.
    pub before: Document,
    /// The customer it belongs to. Its version grows too, so that whoever decides about it
    /// meanwhile decides again.
    pub customer: Option<String>,
    /// The view it has now, where that is another; one a destination.
    pub messages: Vec<StateMessage>,
    /// How long a message waits for its burst to end.
    pub settle: Duration,
}

impl Stores {
    /// Writes the document, sends what follows and says so in the audit log. False when it
    /// is not as it was read any more; then nothing was written.
    ///
    /// # Errors
    /// When the database did not do it, or when that is not known; it may be asked again.
    pub async fn rebuild(
        &self,
        slot: &mut Slot,
        rebuilt: &Rebuilt,
        by: By<'_>,
    ) -> Result<bool, TransactionError> {
        let mut work = Writing {
            stores: self,
            rebuilt,
            by,
        };
        let ended = slot.in_transaction(self.op_timeout, &mut work).await?;
        Ok(ended.value)
    }
}

struct Writing<'a> {
    stores: &'a Stores,
    rebuilt: &'a Rebuilt,
    by: By<'a>,
}

impl Work for Writing<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let rebuilt = self.rebuilt;
        if !self.write(session).await? {
            return Ok(Verdict::Abort(false));
        }
        if let Some(customer) = &rebuilt.customer {
            let grows = doc! { "$inc": { "version": 1_i64 } };
            let customers = self.stores.raw(Customers::NAME);
            let touched = customers.update_one(doc! { "_id": { "$eq": customer } }, grows);
            touched.session(&mut *session).await?;
        }
        for message in &rebuilt.messages {
            let outbox = &self.stores.outbox;
            let queued = outbox.enqueue_state(session, message, rebuilt.settle);
            queued.await?;
        }
        let act = |version: Option<i64>, fields: &Document| {
            doc! {
                "collection": rebuilt.collection,
                "key": &rebuilt.key,
                "version": version,
                "fields": fields,
            }
        };
        let (before, after) = (
            act(rebuilt.read, &rebuilt.before),
            act(Some(rebuilt.version), &rebuilt.fields),
        );
        self.stores.record(session, self.by, before, after).await?;
        Ok(Verdict::Commit(true))
    }
}

impl Writing<'_> {
    /// Whether the document was as it was read.
    async fn write(&self, session: &mut ClientSession) -> Result<bool, Error> {
        let rebuilt = self.rebuilt;
        let documents = self.stores.raw(rebuilt.collection);
        let mut fields = rebuilt.fields.clone();
        fields.insert("version", rebuilt.version);
        if rebuilt.read.is_some() {
            let as_read = as_read(&rebuilt.key, rebuilt.read);
            let written = documents.update_one(as_read, doc! { "$set": fields });
            let written = written.session(session).await?;
            return Ok(written.matched_count == 1);
        }
        let there = doc! { "_id": { "$eq": &rebuilt.key } };
        let update = doc! { "$setOnInsert": fields };
        let written = documents.update_one(there, update).upsert(true);
        let written = written.session(session).await?;
        Ok(written.upserted_id.is_some())
    }
}
