//! What a process needs to deliver: the sinks, and the terms under which messages are
//! claimed, tried again and kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hookledger_shared::backoff::{Backoff, BackoffError};
use hookledger_shared::clock::ServerClock;
use hookledger_shared::config;
use hookledger_shared::store::Stores;
use hookledger_shared::store::events::ClaimTerms;
use hookledger_shared::telemetry::metrics::WorkerMetrics;

use super::outcome::{ATTEMPTS, FACTOR, FIRST_WAIT, MAX_WAIT, Policy};
use super::sink::http::Timeouts;
use super::sink::{Sink, SinkError};
use crate::app::Context;

/// A lease is at least this much longer than a delivery may take, so that its end can be
/// written while the lease still holds.
const LEASE_MARGIN: Duration = Duration::from_secs(5);

/// Delivers messages to every configured destination.
#[derive(Debug)]
pub struct Deliverer {
    pub(super) stores: Stores,
    pub(super) sinks: HashMap<String, Sink>,
    pub(super) terms: ClaimTerms,
    pub(super) policy: Policy,
    pub(super) metrics: Arc<WorkerMetrics>,
    pub(super) clock: ServerClock,
}

/// Why a [`Deliverer`] can't be made.
#[derive(Debug, thiserror::Error)]
pub enum DelivererError {
    /// A sink can't be used as configured.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The waits between tries make no sense.
    #[error("waits between deliveries: {0}")]
    Backoff(#[from] BackoffError),
}

impl Deliverer {
    /// A deliverer for the process of `context`, with the usual waits and time-outs.
    ///
    /// # Errors
    /// When a sink can never deliver as configured.
    pub fn new(context: &Context) -> Result<Self, DelivererError> {
        let backoff = Backoff::try_new(FIRST_WAIT, FACTOR, MAX_WAIT, ATTEMPTS)?;
        Self::with(context, backoff, Timeouts::default())
    }

    /// The same with other waits and time-outs.
    ///
    /// # Errors
    /// When a sink can never deliver as configured.
    pub fn with(
        context: &Context,
        backoff: Backoff,
        timeouts: Timeouts,
    ) -> Result<Self, DelivererError> {
        let settings = &context.settings;
        let build = |sink: &config::Sink| Ok((sink.name.clone(), Sink::build(sink, timeouts)?));
        let sinks: Result<_, SinkError> = settings.sinks.iter().map(build).collect();
        Ok(Self {
            stores: context.stores.clone(),
            sinks: sinks?,
            terms: ClaimTerms {
                owner: context.owner.clone(),
                lease: settings.lease.max(timeouts.total + LEASE_MARGIN),
            },
            policy: Policy {
                backoff,
                retention: settings.retention,
                settle: settings.settle,
            },
            metrics: context.metrics.clone(),
            clock: context.clock.clone(),
        })
    }

    /// The destinations there are. Messages for any other stay pending.
    #[must_use]
    pub fn destinations(&self) -> Vec<String> {
        self.sinks.keys().cloned().collect()
    }
}
