//! The process as a whole: what its parts share and how it starts. `boot` reaches and
//! checks the database; `server` is the two HTTP servers' settings; [`Running`] is how it
//! stops.

mod boot;
mod error;
mod running;
mod server;

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::web;
use hookledger_shared::clock::ServerClock;
use hookledger_shared::config::{IngestSettings, Source};
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::store::{ConnectOptions, Stores};
use hookledger_shared::task;
use hookledger_shared::telemetry::metrics::IngestMetrics;

pub use self::error::{RunError, StartError};
pub use self::running::Running;
use crate::clock::Clock;
use crate::commit::Committer;
use crate::provider::Verifier;
use crate::route::body::Reading;

/// How the database's logs and fail points name us, unless `mongodb.uri` has an `appName`.
const APP_NAME: &str = "hookledger-ingest";

/// A source and the verifier it asks for.
#[derive(Debug)]
pub struct Receiver {
    /// As it was configured.
    pub source: Source,
    /// Its secrets, made ready.
    pub verifier: Verifier,
}

/// What the parts share.
#[derive(Debug)]
pub struct Ingest {
    /// By name, the last part of the path.
    pub receivers: HashMap<String, Receiver>,
    /// Signatures are checked against it.
    pub clock: Clock,
    /// Arrivals are noted by it.
    pub server_clock: ServerClock,
    /// The ledger.
    pub stores: Stores,
    /// Where deliveries wait for it.
    pub committer: Committer,
    /// Bodies that are being read.
    pub reading: Reading,
    /// What is counted.
    pub metrics: Arc<IngestMetrics>,
    /// Whether new work is still welcome.
    pub shutdown: Shutdown,
}

/// Starts ingest: both ports are open when this returns, the database may still be out of
/// reach. Must be called inside a multi-threaded tokio runtime.
///
/// # Errors
/// When the connection string can't be used or a port can't be had.
pub async fn start(settings: IngestSettings, clock: Clock) -> Result<Running, StartError> {
    let stores = Stores::connect(&settings.mongodb, &ConnectOptions::named(APP_NAME)).await?;
    let (trigger, shutdown) = Shutdown::new();
    let ingest = web::Data::new(Ingest::new(&settings, clock, stores, shutdown));
    let webhooks = server::webhooks(&ingest, settings.bind)?;
    let ops = server::ops(&ingest, settings.ops_bind)?;
    let (webhook_addr, ops_addr) = (webhooks.address, ops.address);
    let ended = task::spawn("ingest", running::run(ingest.into_inner(), webhooks, ops));
    Ok(Running {
        webhook_addr,
        ops_addr,
        trigger,
        ended,
    })
}

impl Ingest {
    fn new(settings: &IngestSettings, clock: Clock, stores: Stores, shutdown: Shutdown) -> Self {
        let names = settings.sources.iter().map(|source| source.name.as_str());
        let metrics = Arc::new(IngestMetrics::new(names));
        let receiver = |source: &Source| {
            let receiver = Receiver {
                source: source.clone(),
                verifier: Verifier::new(source),
            };
            (source.name.clone(), receiver)
        };
        Self {
            receivers: settings.sources.iter().map(receiver).collect(),
            clock,
            server_clock: ServerClock::new(),
            stores,
            committer: Committer::new(Arc::clone(&metrics)),
            reading: Reading::default(),
            metrics,
            shutdown,
        }
    }
}
