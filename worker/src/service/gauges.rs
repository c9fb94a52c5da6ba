//! Sets the gauges, every few seconds, from what `lag` reads.

use std::time::Duration;

use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::telemetry::metrics::Row;

use crate::app::{Context, pause};
use crate::ops::lag;

/// Scrapers come every 15 s or so.
const EVERY: Duration = Duration::from_secs(5);

/// Sets them again and again. While the database does not answer they stand still, and
/// `/readyz` says why.
pub async fn run(context: Context, shutdown: Shutdown) {
    let destinations = context.destinations();
    while !shutdown.is_requested() {
        match lag::read(&context.stores, &destinations).await {
            Ok(lag) => set(&context, &lag),
            Err(error) => tracing::debug!(%error, "gauges stand still"),
        }
        match context.stores.subscriptions.checks_due(lag::CAP).await {
            Ok(due) => context.metrics.set_repairs_due(due),
            Err(error) => tracing::debug!(%error, "a gauge stands still"),
        }
        pause(EVERY, &shutdown).await;
    }
}

fn set(context: &Context, lag: &lag::Lag) {
    let metrics = &context.metrics;
    metrics.set_ledger_lag(lag.events.lag);
    metrics.set_events("received", lag.events.received.0);
    metrics.set_events("processing", lag.events.processing.0);
    metrics.set_events("dead", lag.events.dead.0);
    metrics.set_dead_letters(Row::Event, lag.events.dead.0);
    metrics.set_dead_letters(Row::Message, lag.messages.dead.0);
    for destination in &lag.messages.destinations {
        metrics.set_outbox_lag(&destination.destination, destination.lag);
    }
}
