//! What must be true before a process uses the database: a replica set (transactions,
//! retryable writes), collections and indexes made. An unreachable database is no refusal:
//! the caller tries again and stays not ready.

use std::time::Duration;

use bson::{Document, doc};

use super::Stores;
use super::error::{StoreError, code, within};
use super::index::{self, IndexError, Planned, Wanted};

/// Why a boot ends.
#[derive(Debug, thiserror::Error)]
pub enum BootRefusal {
    /// Nothing here works without transactions.
    #[error(
        "mongodb is a standalone server; hookledger needs a replica set (one member is enough): start mongod with --replSet and run rs.initiate()"
    )]
    Standalone,
    /// `killSessions` and the claims are made for a replica set.
    #[error("mongodb.uri leads to a mongos; hookledger needs a replica set")]
    Sharded,
    /// A default below majority would weaken what the client does not set.
    #[error(
        "the server's default write concern is below majority ({0}); set it with setDefaultRWConcern, or remove it"
    )]
    WeakDefault(String),
    /// Indexes are wrong.
    #[error(transparent)]
    Index(IndexError),
}

/// A boot that can't go on: either for good or for now.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// For good: say so and exit.
    #[error(transparent)]
    Refused(#[from] BootRefusal),
    /// For now: not ready, try again.
    #[error(transparent)]
    NotYet(#[from] StoreError),
}

impl Stores {
    /// Checks the server and makes what `wanted` lacks. Answers what was made.
    pub async fn preflight(&self, wanted: &[Wanted]) -> Result<Vec<Planned>, PreflightError> {
        self.check_server().await?;
        self.make_collections(wanted).await?;
        match index::apply(&self.database, wanted, self.op_timeout).await {
            Ok(made) => Ok(made),
            Err(IndexError::Store(error)) => Err(error.into()),
            Err(error @ (IndexError::Conflicts(_) | IndexError::Duplicates { .. })) => {
                Err(BootRefusal::Index(error).into())
            }
        }
    }

    /// What [`Self::preflight`] would change.
    pub async fn plan(&self, wanted: &[Wanted]) -> Result<Vec<Planned>, StoreError> {
        index::plan(&self.database, wanted, self.op_timeout).await
    }

    /// Refuses a server that can't hold a ledger: the part of [`Self::preflight`] that
    /// changes nothing.
    pub async fn check_server(&self) -> Result<(), PreflightError> {
        let hello = match self.admin(doc! { "hello": 1 }).await {
            Ok(hello) => hello,
            Err(_) if self.is_standalone().await => return Err(BootRefusal::Standalone.into()),
            Err(error) => return Err(error.into()),
        };
        if hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid") {
            return Err(BootRefusal::Sharded.into());
        }
        if !hello.contains_key("setName") {
            return Err(BootRefusal::Standalone.into());
        }
        match self.admin(doc! { "getDefaultRWConcern": 1 }).await {
            Ok(defaults) => refuse_weak_default(&defaults),
            // Without the right to read it: our writes name their own concern anyway.
            Err(StoreError::Database(error)) if code(&error) == Some(13) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Collections are made before use, never inside a transaction.
    async fn make_collections(&self, wanted: &[Wanted]) -> Result<(), StoreError> {
        let names = self.database.list_collection_names();
        let there = within(self.op_timeout, async { names.await }).await?;
        for Wanted { collection, .. } in wanted {
            if there.iter().any(|name| name == collection) {
                continue;
            }
            let create = self.database.create_collection(*collection);
            match within(self.op_timeout, async { create.await }).await {
                // NamespaceExists: another process was faster.
                Err(StoreError::Database(error)) if code(&error) == Some(48) => {}
                made => made?,
            }
        }
        Ok(())
    }

    async fn admin(&self, command: Document) -> Result<Document, StoreError> {
        let admin = self.client.database("admin");
        within(self.op_timeout, async { admin.run_command(command).await }).await
    }

    /// Whether a majority can be written: an update that matches nothing, at majority.
    pub async fn writable(&self, limit: Duration) -> Result<(), StoreError> {
        let workers = self.database.collection::<Document>(super::Workers::NAME);
        let nothing = workers.update_one(
            doc! { "_id": "no such worker" },
            doc! { "$set": { "seenAt": bson::DateTime::MIN } },
        );
        let concern = super::connect::majority(super::connect::wtimeout(limit));
        within(limit, async { nothing.write_concern(concern).await }).await?;
        Ok(())
    }
}

fn refuse_weak_default(defaults: &Document) -> Result<(), PreflightError> {
    let Ok(concern) = defaults.get_document("defaultWriteConcern") else {
        return Ok(());
    };
    match concern.get("w") {
        None => Ok(()),
        Some(bson::Bson::String(w)) if w == "majority" => Ok(()),
        // The implicit default of an arbiter's set is w:1; ours names its own concern.
        Some(_)
            if defaults
                .get_str("defaultWriteConcernSource")
                .is_ok_and(|source| source == "implicit") =>
        {
            Ok(())
        }
        Some(w) => Err(BootRefusal::WeakDefault(format!("w: {w}")).into()),
    }
}
