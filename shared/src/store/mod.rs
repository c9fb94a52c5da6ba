//! The only folder that talks to MongoDB.
//!
//! Reading order: [`connect`] (the driver, tuned), [`index`] and [`preflight`] (what must
//! be true before use), [`transaction`] (sessions and the one retry policy), [`events`] and
//! [`outbox`] (claim, finish, rescue; what they share is in [`leased`], [`gauge`] and
//! [`dead`]), [`workers`] and [`audit`]; then one file a domain
//! collection: its name, its indexes and its queries, together.
//!
//! Not here: rules. What an event means is decided in the worker's handlers.

pub mod audit;
pub mod connect;
pub mod dead;
pub mod error;
pub mod events;
pub mod gauge;
pub mod index;
pub mod leased;
pub mod outbox;
mod pipeline;
pub mod preflight;
pub mod transaction;
pub mod workers;

use std::time::Duration;

use mongodb::{Client, Database};

pub use audit::Audit;
pub use connect::ConnectOptions;
pub use error::StoreError;
pub use events::{Events, Insertion};
pub use outbox::Outbox;
pub use workers::Workers;

/// Every collection, over one client.
#[derive(Debug, Clone)]
pub struct Stores {
    /// The driver's client; sessions start in [`transaction::Slot`].
    pub(crate) client: Client,
    /// Our database.
    pub(crate) database: Database,
    /// How long an operation outside a transaction may take.
    pub(crate) op_timeout: Duration,
    /// The ledger.
    pub events: Events,
    /// Effects to deliver.
    pub outbox: Outbox,
    /// Who is alive.
    pub workers: Workers,
    /// What operators did.
    pub audit: Audit,
}

impl Stores {
    fn new(client: Client, name: &str, op_timeout: Duration) -> Self {
        let database = client.database(name);
        Self {
            events: Events::new(&database, op_timeout),
            outbox: Outbox::new(&database, op_timeout),
            workers: Workers::new(&database, op_timeout),
            audit: Audit::new(&database, op_timeout),
            client,
            database,
            op_timeout,
        }
    }

    /// Every collection with the indexes it wants.
    #[must_use]
    pub fn wanted() -> Vec<index::Wanted> {
        vec![
            Events::wanted(),
            Outbox::wanted(),
            Workers::wanted(),
            Audit::wanted(),
        ]
    }

    /// Kills the sessions of leases, so that their rows are not locked by a transaction that
    /// outlived its worker. What proves it is the next write, not the answer.
    pub async fn kill_sessions<'a>(
        &self,
        leases: impl IntoIterator<Item = &'a crate::model::lease::Lease>,
    ) -> Result<(), StoreError> {
        let ids: Vec<_> = leases
            .into_iter()
            .filter_map(|lease| lease.session.clone())
            .map(|id| bson::doc! { "id": id })
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        transaction::kill_sessions(&self.client, ids, self.op_timeout).await
    }

    /// The driver's database, for tests and tools that look at raw documents.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }
}
