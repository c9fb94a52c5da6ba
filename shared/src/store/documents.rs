//! What every domain collection does the same way: read one document in the transaction,
//! read some, write our fields of one. What is particular (names, indexes, queries) stands
//! in each collection's own file. Most have nothing particular but name and indexes: they
//! are a [`Domain`].

use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::error::Error;
use mongodb::{ClientSession, Collection, Database};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::index::{Index, Wanted};

/// A document that has a collection of its own.
pub trait Stored: Serialize + DeserializeOwned + Send + Sync {
    /// The collection's name.
    const NAME: &'static str;

    /// Its key.
    fn key(&self) -> &str;

    /// The collection's indexes.
    fn indexes() -> Vec<Index>;
}

/// A collection of which only single documents are asked, by their keys.
#[derive(Debug)]
pub struct Domain<T: Stored>(Documents<T>);

// Not derived: a derived one would ask that documents can be cloned.
impl<T: Stored> Clone for Domain<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Stored> Domain<T> {
    /// Its name.
    pub const NAME: &'static str = T::NAME;

    pub(super) fn new(database: &Database) -> Self {
        Self(Documents::new(database, T::NAME))
    }

    /// Its indexes.
    #[must_use]
    pub fn wanted() -> Wanted {
        Wanted {
            collection: T::NAME,
            indexes: T::indexes(),
        }
    }

    /// The one with this key, as the transaction sees it.
    pub async fn find(&self, session: &mut ClientSession, key: &str) -> Result<Option<T>, Error> {
        self.0.find(session, key).await
    }

    /// Writes it.
    pub async fn save(&self, session: &mut ClientSession, document: &T) -> Result<(), Error> {
        self.0.save(session, document.key(), document).await
    }
}

/// A collection of domain documents of one type, keyed by text.
#[derive(Debug)]
pub(super) struct Documents<T: Send + Sync>(Collection<T>);

// Not derived: a derived one would ask that documents can be cloned.
impl<T: Send + Sync> Clone for Documents<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Serialize + DeserializeOwned + Send + Sync> Documents<T> {
    pub(super) fn new(database: &Database, name: &str) -> Self {
        Self(database.collection(name))
    }

    /// The document with this key.
    pub(super) async fn find(
        &self,
        session: &mut ClientSession,
        key: &str,
    ) -> Result<Option<T>, Error> {
        self.0.find_one(doc! { "_id": key }).session(session).await
    }

    /// Every document that matches, in no order: rules ask for none, and a sort by key would
    /// tempt the server to walk all keys instead of the filter's index.
    pub(super) async fn find_all(
        &self,
        session: &mut ClientSession,
        filter: Document,
    ) -> Result<Vec<T>, Error> {
        let mut cursor = self.0.find(filter).session(&mut *session).await?;
        cursor.stream(session).try_collect().await
    }

    /// Writes our fields of the document, whether it is there or not, and lets its version
    /// grow. Fields that a newer binary added stay. The version is what makes every save a
    /// write: setting equal values is none, and would conflict with nobody.
    pub(super) async fn save(
        &self,
        session: &mut ClientSession,
        key: &str,
        document: &T,
    ) -> Result<(), Error> {
        let mut fields = bson::serialize_to_document(document)?;
        fields.remove("_id");
        fields.remove("version");
        let update = doc! { "$set": fields, "$inc": { "version": 1_i64 } };
        let upsert = self.0.update_one(doc! { "_id": key }, update).upsert(true);
        upsert.session(session).await?;
        Ok(())
    }

    /// Appends a document that must not be there yet.
    pub(super) async fn insert(
        &self,
        session: &mut ClientSession,
        document: &T,
    ) -> Result<(), Error> {
        self.0.insert_one(document).session(session).await?;
        Ok(())
    }

    /// The collection, for what a file does in its own way.
    pub(super) fn collection(&self) -> &Collection<T> {
        &self.0
    }
}
