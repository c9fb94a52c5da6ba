//! A replica set of ours, or the one that the developer has named.

use anyhow::{Context, Result};
use bson::doc;

use super::direct;
use super::replica_set::{ReplicaSet, ReplicaSetOptions};
use crate::environment;

/// Where the data goes.
#[derive(Debug)]
pub enum Deployment {
    /// Named by `HOOKLEDGER_MONGODB_URI`; not ours to stop.
    Given(String),
    /// Started by us, and gone with us.
    Started(ReplicaSet),
}

impl Deployment {
    /// Takes the deployment that `HOOKLEDGER_MONGODB_URI` names, else starts one.
    ///
    /// # Errors
    /// When the named one can't be reached or is no replica set, or ours does not start.
    pub async fn open(options: &ReplicaSetOptions) -> Result<Self> {
        match environment::mongodb_uri() {
            Some(uri) => Self::given(uri).await,
            None => Ok(Self::Started(ReplicaSet::start(options).await?)),
        }
    }

    /// For any client.
    #[must_use]
    pub fn uri(&self) -> String {
        match self {
            Self::Given(uri) => uri.clone(),
            Self::Started(set) => set.uri(),
        }
    }

    async fn given(uri: String) -> Result<Self> {
        let name = environment::MONGODB_URI;
        // The URI may hold a password, so it is not repeated in a message.
        let client = direct::client(&uri)
            .await
            .with_context(|| format!("{name} can't be used"))?;
        let hello = client
            .database("admin")
            .run_command(doc! { "hello": 1 })
            .await;
        let hello = hello.with_context(|| format!("{name} can't be reached"))?;
        // A router of a sharded cluster has no set of its own, and offers the same.
        let router = hello
            .get_str("msg")
            .is_ok_and(|message| message == "isdbgrid");
        let suits = hello.contains_key("setName") || router;
        anyhow::ensure!(
            suits,
            "{name} must be a replica set: a standalone server has no transactions"
        );
        Ok(Self::Given(uri))
    }
}
