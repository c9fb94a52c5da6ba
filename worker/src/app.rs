//! The daemon: what every part shares ([`Context`]), and the order in which parts start
//! and stop.

use std::sync::Arc;
use std::time::Duration;

use hookledger_shared::clock::ServerClock;
use hookledger_shared::config::WorkerSettings;
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::store::connect::ConnectError;
use hookledger_shared::store::events::ClaimTerms;
use hookledger_shared::store::preflight::{BootRefusal, PreflightError};
use hookledger_shared::store::{ConnectOptions, Stores};
use hookledger_shared::task;
use hookledger_shared::telemetry::metrics::WorkerMetrics;
use tokio::sync::{Mutex, RwLock};
use tokio::task::JoinSet;

use crate::handler::Rules;
use crate::outbox::Deliverer;
use crate::repair::client::Client;
use crate::service::alive::{Alive, AliveError};
use crate::service::wakeup::Wakeup;
use crate::service::{clock, deliverer, gauges, processor, repairer, rescuer, wakeup};
use crate::{ops, service};

/// How the server's logs and fail points name the worker.
pub const APP_NAME: &str = "hookledger-worker";
/// How long work in hand may take to end after a stop was asked for.
const GRACE: Duration = Duration::from_secs(20);
/// The pause between two looks at a database that is not ready.
const BOOT_PAUSE: Duration = Duration::from_millis(500);

/// What every part of the worker shares. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    /// The database.
    pub stores: Stores,
    /// What it was told.
    pub settings: Arc<WorkerSettings>,
    /// What handlers need of that.
    pub rules: Arc<Rules>,
    /// What it counts.
    pub metrics: Arc<WorkerMetrics>,
    /// This process, unique per start.
    pub owner: Arc<str>,
    /// The database's clock, as far as we know it.
    pub clock: ServerClock,
    /// Wakes loops that wait.
    pub wakeup: Wakeup,
    /// Held for reading while an event is processed; for writing by an event whose worker
    /// died with it, which runs alone.
    pub isolation: Arc<RwLock<()>>,
    /// Held by the one event that waits for that or runs alone: no second one is in hand
    /// when it kills the worker.
    pub suspect: Arc<Mutex<()>>,
}

impl Context {
    /// A context over `stores` for a process that starts now.
    #[must_use]
    pub fn new(stores: Stores, settings: WorkerSettings) -> Self {
        let rules = Rules {
            catalogue: settings.catalogue.clone(),
            metadata: settings.metadata.clone(),
        };
        Self {
            stores,
            metrics: Arc::new(WorkerMetrics::new(
                settings.sinks.iter().map(|sink| sink.name.clone()),
            )),
            rules: Arc::new(rules),
            settings: Arc::new(settings),
            owner: owner().into(),
            clock: ServerClock::new(),
            wakeup: Wakeup::new(),
            isolation: Arc::new(RwLock::new(())),
            suspect: Arc::new(Mutex::new(())),
        }
    }

    /// The configured sinks' names.
    #[must_use]
    pub fn destinations(&self) -> Vec<String> {
        let sinks = self.settings.sinks.iter();
        sinks.map(|sink| sink.name.clone()).collect()
    }

    /// Under what terms this process claims.
    #[must_use]
    pub fn terms(&self) -> ClaimTerms {
        ClaimTerms {
            owner: self.owner.clone(),
            lease: self.settings.lease,
        }
    }
}

/// Unique per process start: ids of the database's kind carry time, process and counter.
fn owner() -> String {
    format!(
        "worker-{}-{}",
        std::process::id(),
        bson::oid::ObjectId::new()
    )
}

/// Why the daemon ended badly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The connection is configured in a way that can't be used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The database can't be used.
    #[error(transparent)]
    Refused(#[from] BootRefusal),
    /// The ops port could not be opened.
    #[error("worker.ops_bind: {0}")]
    Ops(#[source] std::io::Error),
    /// The thread that says we are alive could not start.
    #[error(transparent)]
    Alive(#[from] AliveError),
    /// A sink can't be built from its settings.
    #[error("sinks: {0}")]
    Sinks(String),
    /// Nothing can be asked over TLS.
    #[error("stripe.api_base: {0}")]
    Api(#[source] reqwest::Error),
}

/// Runs until `shutdown` is requested; then finishes or releases what it holds.
pub async fn run(settings: WorkerSettings, shutdown: Shutdown) -> Result<(), RunError> {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let options = ConnectOptions::named(APP_NAME);
    let stores = Stores::connect(&settings.mongodb, &options).await?;
    let context = Context::new(stores, settings);
    let deliverer =
        Arc::new(Deliverer::new(&context).map_err(|error| RunError::Sinks(error.to_string()))?);
    let api = context.settings.stripe.as_ref().map(Client::new);
    let api = api.transpose().map_err(RunError::Api)?;
    let running = ops::serve(context.clone(), shutdown.clone());
    let running = running.await.map_err(RunError::Ops)?;
    println!("listening ops={}", running.addr);
    tracing::info!(ops = %running.addr, owner = %context.owner, "worker up");
    let ended = work(&context, &deliverer, api, &shutdown).await;
    service::rescuer::release_all(&context).await;
    ended
}

async fn work(
    context: &Context,
    deliverer: &Arc<Deliverer>,
    api: Option<Client>,
    shutdown: &Shutdown,
) -> Result<(), RunError> {
    if !prepare(context, shutdown).await? {
        return Ok(());
    }
    let alive = Alive::start(context, shutdown).await?;
    let mut helpers = JoinSet::new();
    start(&mut helpers, "clock", clock::run(context.clone()));
    start(&mut helpers, "poll", wakeup::poll(context.clone()));
    start(&mut helpers, "watch", wakeup::watch(context.clone()));
    start(
        &mut helpers,
        "gauges",
        gauges::run(context.clone(), shutdown.clone()),
    );
    start(
        &mut helpers,
        "rescuer",
        rescuer::run(context.clone(), alive.clone()),
    );

    let mut workers = JoinSet::new();
    for _ in 0..context.settings.concurrency {
        start(
            &mut workers,
            "processor",
            processor::run(context.clone(), shutdown.clone()),
        );
    }
    for destination in deliverer.destinations() {
        for _ in 0..deliverer::LOOPS_A_DESTINATION {
            let destination = destination.clone();
            let run = deliverer::run(
                context.clone(),
                deliverer.clone(),
                destination,
                shutdown.clone(),
            );
            start(&mut workers, "deliverer", run);
        }
    }
    if let Some(client) = api {
        let run = repairer::run(context.clone(), client, shutdown.clone());
        start(&mut workers, "repairer", run);
    }
    shutdown.requested().await;
    let drained = async { while workers.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, drained).await.is_err() {
        tracing::warn!(grace = ?GRACE, "work in hand did not end in time; it is released");
    }
    workers.shutdown().await;
    helpers.shutdown().await;
    alive.stop();
    Ok(())
}

/// Waits until the database can be used: false when a stop was asked for first.
async fn prepare(context: &Context, shutdown: &Shutdown) -> Result<bool, RunError> {
    let mut said = false;
    while !shutdown.is_requested() {
        match context.stores.preflight(&Stores::wanted()).await {
            Ok(made) => {
                for change in made {
                    tracing::info!(%change, "index");
                }
                clock::observe(context).await;
                return Ok(true);
            }
            Err(PreflightError::Refused(refusal)) => return Err(refusal.into()),
            Err(PreflightError::NotYet(error)) if said => {
                tracing::debug!(%error, "the database is still not ready");
            }
            Err(PreflightError::NotYet(error)) => {
                said = true;
                tracing::warn!(%error, "the database is not ready; trying again");
            }
        }
        pause(BOOT_PAUSE, shutdown).await;
    }
    Ok(false)
}

/// Waits, but not past a request to stop.
pub(crate) async fn pause(duration: Duration, shutdown: &Shutdown) {
    tokio::select! {
        () = tokio::time::sleep(duration) => {}
        () = shutdown.requested() => {}
    }
}

fn start(
    set: &mut JoinSet<()>,
    name: &'static str,
    service: impl Future<Output = ()> + Send + 'static,
) {
    let running = task::spawn(name, service);
    let guard = AbortOnDrop(running.abort_handle());
    set.spawn(async move {
        let _guard = guard;
        // A panic is logged by `task::spawn`; the leases of what it held run out.
        let _ = running.await;
    });
}

/// A service ends with the set it was started in.
struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
