//! The only folder that talks to MongoDB.
//!
//! Reading order: [`connect`] (the driver, tuned), [`index`] and [`preflight`] (what must
//! be true before use), [`transaction`] (sessions and the one retry policy), [`events`] and
//! [`outbox`] (claim, finish, rescue; what they share is in [`leased`], [`gauge`] and
//! [`dead`]), [`workers`], [`audit`], [`requeue`] and [`rebuild`]; then one file a domain
//! collection: its name, its indexes and its queries, together.
//!
//! Not here: rules. What an event means is decided in the worker's handlers.

pub mod audit;
pub mod checkouts;
pub mod connect;
pub mod credit_accounts;
pub mod credit_entries;
pub mod customers;
pub mod dead;
pub mod documents;
pub mod error;
pub mod events;
pub mod gauge;
pub mod index;
pub mod invoices;
pub mod leased;
pub mod outbox;
pub mod payments;
mod pipeline;
pub mod preflight;
mod primary;
pub mod purchases;
pub mod rebuild;
pub mod requeue;
pub mod subscriptions;
pub mod transaction;
mod unreadable;
pub mod workers;

use std::time::Duration;

use mongodb::options::ClientOptions;
use mongodb::{Client, Database};

pub use audit::Audit;
pub use checkouts::Checkouts;
pub use connect::ConnectOptions;
pub use credit_accounts::CreditAccounts;
pub use credit_entries::CreditEntries;
pub use customers::Customers;
pub use error::StoreError;
pub use events::{Events, Insertion};
pub use invoices::Invoices;
pub use outbox::Outbox;
pub use payments::Payments;
pub use purchases::Purchases;
pub use requeue::{DeadLetter, Operator};
pub use subscriptions::Subscriptions;
pub use workers::Workers;

/// Every collection, over one client.
#[derive(Debug, Clone)]
pub struct Stores {
    /// The driver's client; sessions start in [`transaction::Slot`].
    pub(crate) client: Client,
    /// As configured and tuned, to ask one server directly.
    configured: ClientOptions,
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
    /// Subscriptions at the provider.
    pub subscriptions: Subscriptions,
    /// Customers at the provider.
    pub customers: Customers,
    /// Checkout sessions.
    pub checkouts: Checkouts,
    /// Invoices.
    pub invoices: Invoices,
    /// Payments at the provider.
    pub payments: Payments,
    /// Purchases of credits.
    pub purchases: Purchases,
    /// Changes of balances.
    pub credit_entries: CreditEntries,
    /// Balances.
    pub credit_accounts: CreditAccounts,
}

impl Stores {
    fn new(
        client: Client,
        configured: ClientOptions,
        primary: primary::PrimaryWatch,
        name: &str,
        op_timeout: Duration,
    ) -> Self {
        let database = client.database(name);
        Self {
            events: Events::new(&database, primary, op_timeout),
            outbox: Outbox::new(&database, op_timeout),
            workers: Workers::new(&database, op_timeout),
            audit: Audit::new(&database),
            subscriptions: Subscriptions::new(&database, op_timeout),
            customers: Customers::new(&database),
            checkouts: Checkouts::new(&database),
            invoices: Invoices::new(&database),
            payments: Payments::new(&database),
            purchases: Purchases::new(&database),
            credit_entries: CreditEntries::new(&database),
            credit_accounts: CreditAccounts::new(&database),
            client,
            configured,
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
            Subscriptions::wanted(),
            Customers::wanted(),
            Checkouts::wanted(),
            Invoices::wanted(),
            Payments::wanted(),
            Purchases::wanted(),
            CreditEntries::wanted(),
            CreditAccounts::wanted(),
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
