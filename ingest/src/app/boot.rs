//! From "the ports are open" to "deliveries are stored": reach the database, check it, take
//! its time, then write group after group. An unreachable database is waited for; one that
//! must not be used ends the process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hookledger_shared::store::preflight::{BootRefusal, PreflightError};
use hookledger_shared::store::{Events, StoreError};
use hookledger_shared::{clock, task};

use super::Ingest;

/// Between two tries to reach the database; each try waits for it on its own.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the server's clock is asked for. Machines drift by milliseconds a minute.
const CLOCK_EVERY: Duration = Duration::from_secs(30);

/// Ends when the committer is closed, or with the reason why it can't begin.
pub(super) async fn run(ingest: Arc<Ingest>) -> Result<(), BootRefusal> {
    if !prepare(&ingest).await? {
        return Ok(());
    }
    task::spawn("clock", keep_time(Arc::clone(&ingest)));
    tracing::info!("ready: deliveries are stored from here on");
    // A panic costs those in flight their answer, never all that come after.
    while task::spawn("commit", write(Arc::clone(&ingest)))
        .await
        .is_err()
    {
        tracing::error!("the commit loop panicked and is started again");
    }
    Ok(())
}

/// Whether the database is ready; `false` when the stop came first.
async fn prepare(ingest: &Ingest) -> Result<bool, BootRefusal> {
    loop {
        tokio::select! {
            () = ingest.shutdown.requested() => return Ok(false),
            prepared = try_prepare(ingest) => match prepared {
                Ok(()) => return Ok(true),
                Err(PreflightError::Refused(refusal)) => return Err(refusal),
                Err(PreflightError::NotYet(error)) => {
                    tracing::warn!(%error, "the database can't be used yet; deliveries are answered 503");
                }
            },
        }
        tokio::select! {
            () = ingest.shutdown.requested() => return Ok(false),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

async fn try_prepare(ingest: &Ingest) -> Result<(), PreflightError> {
    // The ledger alone: a fault elsewhere is the worker's, and no reason to turn
    // deliveries away.
    let made = ingest.stores.preflight(&[Events::wanted()]).await?;
    for change in made {
        tracing::info!(%change, "the ledger's indexes");
    }
    observe(ingest).await?;
    Ok(())
}

async fn keep_time(ingest: Arc<Ingest>) {
    loop {
        tokio::select! {
            () = ingest.shutdown.requested() => return,
            () = tokio::time::sleep(CLOCK_EVERY) => {}
        }
        if let Err(error) = observe(&ingest).await {
            // The offset known so far stays good enough for as long as an outage lasts.
            tracing::debug!(%error, "the database's clock could not be read");
        }
    }
}

async fn observe(ingest: &Ingest) -> Result<(), StoreError> {
    let (asked, began) = (clock::now(), Instant::now());
    let server = ingest.stores.server_time().await?;
    ingest.server_clock.observe(asked, began.elapsed(), server);
    Ok(())
}

async fn write(ingest: Arc<Ingest>) {
    let events = &ingest.stores.events;
    let insert = |rows: Vec<bson::RawDocumentBuf>, limit| {
        let events = events.clone();
        async move { events.insert_many(&rows, limit).await }
    };
    ingest.committer.write(insert).await;
}
