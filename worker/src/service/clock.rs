//! How far our clock is from the database's, asked now and then.

use std::time::{Duration, Instant};

use hookledger_shared::clock::now;

use crate::app::Context;

/// How often the offset is measured.
const EVERY: Duration = Duration::from_secs(30);

/// Measures again and again.
pub async fn run(context: Context) {
    loop {
        tokio::time::sleep(EVERY).await;
        observe(&context).await;
    }
}

/// Measures once; an unreachable database leaves the last measure standing.
pub async fn observe(context: &Context) {
    let (asked, started) = (now(), Instant::now());
    match context.stores.server_time().await {
        Ok(server) => context.clock.observe(asked, started.elapsed(), server),
        Err(error) => tracing::debug!(%error, "the database's clock could not be read"),
    }
}
