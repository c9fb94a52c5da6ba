//! What a rebuild reads and writes of the domain collections: any of them, as raw
//! documents, so that a new collection needs nothing here. Reads are of what a majority
//! knows; a write is one transaction that finds the document as it was read, and has its
//! line in the audit log.

mod credits;
mod document;

use bson::{DateTime, Document, doc};
use futures::TryStreamExt;
use mongodb::options::ReadConcern;
use mongodb::{ClientSession, Collection};

use super::audit::Act;
use super::error::within;
use super::{Operator, StoreError, Stores};

pub use credits::{Balanced, Corrected};
pub use document::Rebuilt;

/// Who rebuilds, and when.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// The operator.
    pub operator: &'a Operator,
    /// The time, by the database's clock as we know it.
    pub now: DateTime,
}

impl Stores {
    /// A page of a collection's documents after this key, in the order of keys: a
    /// sequential scan.
    pub async fn documents_after(
        &self,
        collection: &str,
        after: Option<&str>,
        page: i64,
    ) -> Result<Vec<Document>, StoreError> {
        let filter = after.map_or_else(Document::new, |after| doc! { "_id": { "$gt": after } });
        self.documents(collection, filter, page).await
    }

    /// The document with this key.
    pub async fn document(
        &self,
        collection: &str,
        key: &str,
    ) -> Result<Option<Document>, StoreError> {
        let filter = doc! { "_id": { "$eq": key } };
        let found = self.documents(collection, filter, 1).await?;
        Ok(found.into_iter().next())
    }

    /// Every document that matches, in the order of keys. The filter needs an index, and the
    /// order is made here: a server asked for it might walk all keys instead.
    pub async fn documents_where(
        &self,
        collection: &str,
        filter: Document,
    ) -> Result<Vec<Document>, StoreError> {
        let documents = self.raw(collection);
        let found = documents.find(filter).read_concern(ReadConcern::majority());
        let found = async { found.await?.try_collect::<Vec<Document>>().await };
        let mut found = within(self.op_timeout, found).await?;
        let key = |document: &Document| document.get_str("_id").unwrap_or_default().to_owned();
        found.sort_by_cached_key(key);
        Ok(found)
    }

    async fn documents(
        &self,
        collection: &str,
        filter: Document,
        limit: i64,
    ) -> Result<Vec<Document>, StoreError> {
        let documents = self.raw(collection);
        let found = documents
            .find(filter)
            .sort(doc! { "_id": 1 })
            .limit(limit)
            .read_concern(ReadConcern::majority());
        within(self.op_timeout, async { found.await?.try_collect().await }).await
    }

    fn raw(&self, collection: &str) -> Collection<Document> {
        self.database.collection(collection)
    }

    async fn record(
        &self,
        session: &mut ClientSession,
        by: By<'_>,
        before: Document,
        after: Document,
    ) -> Result<(), mongodb::error::Error> {
        let act = Act {
            who: by.operator.who.clone(),
            what: "rebuild",
            when: by.now,
            from: by.operator.from.clone(),
            before,
            after,
        };
        self.audit.append(session, &act).await
    }
}

/// Only the document as it was read: this version, or not there.
fn as_read(key: &str, version: Option<i64>) -> Document {
    doc! { "_id": key, "version": version }
}
