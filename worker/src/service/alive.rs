//! Saying that we are alive, every third of a lease, on a thread and a connection of its
//! own: a handler that blocks the runtime must not look like a crash.
//!
//! It also knows how long it has said so without a gap. A rescuer that could not write
//! itself must not take others for dead: an outage is nobody's crash.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hookledger_shared::config::Mongodb;
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::store::{ConnectOptions, Stores};
use tokio::sync::oneshot;

use crate::app::{APP_NAME, Context};

/// Two connections: one works, one watches.
const POOL: u32 = 2;
/// The pause before a renewal that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Why the thread could not start.
#[derive(Debug, thiserror::Error)]
pub enum AliveError {
    /// No thread or no runtime for it.
    #[error("the thread that renews this worker's row could not start: {0}")]
    Thread(#[from] std::io::Error),
}

/// Our own renewals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Alive {
    renewals: Arc<Mutex<Renewals>>,
    stop: Shutdown,
    trigger: hookledger_shared::shutdown::Trigger,
}

/// The rule alone: an unbroken row of renewals.
#[derive(Debug)]
struct Renewals {
    lease: Duration,
    since: Option<Instant>,
    last: Option<Instant>,
}

impl Renewals {
    fn new(lease: Duration) -> Self {
        Self {
            lease,
            since: None,
            last: None,
        }
    }

    /// Twice the interval between renewals.
    fn gap(&self) -> Duration {
        self.lease * 2 / 3
    }

    fn renewed(&mut self, now: Instant) {
        let unbroken = self
            .last
            .is_some_and(|last| now.duration_since(last) <= self.gap());
        if !unbroken {
            self.since = Some(now);
        }
        self.last = Some(now);
    }

    fn unbroken_for(&self, now: Instant) -> Option<Duration> {
        let last = self.last?;
        let fresh = now.duration_since(last) <= self.gap();
        fresh.then(|| self.since.map(|since| now.duration_since(since)))?
    }
}

impl Alive {
    /// Starts the thread and waits for the first renewal, so that nothing is claimed by a
    /// worker that nobody knows of.
    pub async fn start(context: &Context, shutdown: &Shutdown) -> Result<Self, AliveError> {
        let lease = context.settings.lease;
        let renewals = Arc::new(Mutex::new(Renewals::new(lease)));
        let (trigger, stop) = Shutdown::new();
        let (first, renewed) = oneshot::channel();
        let job = Job {
            mongodb: context.settings.mongodb.clone(),
            owner: context.owner.clone(),
            lease,
            renewals: renewals.clone(),
            stop: stop.clone(),
            first: Some(first),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        thread::Builder::new()
            .name("alive".to_owned())
            .spawn(move || runtime.block_on(job.run()))?;
        tokio::select! {
            _ = renewed => {}
            () = shutdown.requested() => {}
        }
        Ok(Self {
            renewals,
            stop,
            trigger,
        })
    }

    /// How long this process has renewed its row without a gap; none while there is one.
    #[must_use]
    pub fn unbroken_for(&self) -> Option<Duration> {
        let renewals = self.renewals.lock().unwrap_or_else(PoisonError::into_inner);
        renewals.unbroken_for(Instant::now())
    }

    /// Ends the thread.
    pub fn stop(&self) {
        if !self.stop.is_requested() {
            self.trigger.request();
        }
    }
}

struct Job {
    mongodb: Mongodb,
    owner: Arc<str>,
    lease: Duration,
    renewals: Arc<Mutex<Renewals>>,
    stop: Shutdown,
    first: Option<oneshot::Sender<()>>,
}

impl Job {
    async fn run(mut self) {
        let third = self.lease / 3;
        let options = ConnectOptions {
            app_name: format!("{APP_NAME}-alive"),
            op_timeout: third.max(Duration::from_secs(1)),
            max_pool_size: POOL,
        };
        let stores = match Stores::connect(&self.mongodb, &options).await {
            Ok(stores) => stores,
            // The same settings have just made the main client.
            Err(error) => return tracing::error!(%error, "aliveness can't be renewed"),
        };
        while !self.stop.is_requested() {
            let wait = match stores.workers.renew(&self.owner).await {
                Ok(()) => {
                    self.renewed();
                    third
                }
                // Soon again: when an outage ends, others judge half a lease later.
                Err(error) => {
                    tracing::debug!(%error, "this worker's row could not be renewed");
                    third.min(RETRY)
                }
            };
            crate::app::pause(wait, &self.stop).await;
        }
    }

    fn renewed(&mut self) {
        let mut renewals = self.renewals.lock().unwrap_or_else(PoisonError::into_inner);
        renewals.renewed(Instant::now());
        if let Some(first) = self.first.take() {
            // Nobody waits any more when a stop was asked for meanwhile.
            let _ = first.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    #[test]
    fn a_gap_in_our_own_renewals_starts_the_row_anew() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut renewals = Renewals::new(LEASE);
        assert_eq!(renewals.unbroken_for(at(0)), None);
        renewals.renewed(at(0));
        renewals.renewed(at(10));
        renewals.renewed(at(20));
        assert_eq!(renewals.unbroken_for(at(25)), Some(Duration::from_secs(25)));
        assert_eq!(
            renewals.unbroken_for(at(41)),
            None,
            "we could not write ourselves"
        );
        renewals.renewed(at(50));
        assert_eq!(renewals.unbroken_for(at(51)), Some(Duration::from_secs(1)));
    }
}
