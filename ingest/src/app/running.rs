//! A running ingest, and how it ends: no new connections, an answer for every request that
//! is in flight, then the last group, then the health port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hookledger_shared::shutdown::Trigger;
use hookledger_shared::task;
use tokio::task::{JoinError, JoinHandle};

use super::server::Listening;
use super::{Ingest, RunError, boot};

/// How long the last group may take after the last request is gone.
const LAST_GROUP: Duration = Duration::from_secs(2);

/// A running ingest. Dropping it asks for the stop and does not wait for it.
#[derive(Debug)]
pub struct Running {
    /// Where deliveries are taken.
    pub webhook_addr: SocketAddr,
    /// Where health and metrics are.
    pub ops_addr: SocketAddr,
    pub(super) trigger: Trigger,
    pub(super) ended: JoinHandle<Result<(), RunError>>,
}

impl Running {
    /// What asks for the stop, for a signal handler.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        self.trigger.clone()
    }

    /// Waits until it has ended, by a request or by itself.
    ///
    /// # Errors
    /// When it was by itself.
    pub async fn ended(mut self) -> Result<(), RunError> {
        let ended = (&mut self.ended).await;
        ended.unwrap_or(Err(RunError::Panicked))
    }

    /// Stops taking deliveries, answers those that are in flight, and waits for the end.
    ///
    /// # Errors
    /// When it had ended by itself.
    pub async fn stop(self) -> Result<(), RunError> {
        self.trigger.request();
        self.ended().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.trigger.request();
    }
}

/// Serves until the stop is requested or something ends by itself.
pub(super) async fn run(
    ingest: Arc<Ingest>,
    webhooks: Listening,
    ops: Listening,
) -> Result<(), RunError> {
    let (webhooks_handle, ops_handle) = (webhooks.server.handle(), ops.server.handle());
    let mut boot = task::spawn("boot", boot::run(Arc::clone(&ingest)));
    let mut webhooks = task::spawn("webhooks", webhooks.server);
    let mut ops = task::spawn("ops", ops.server);
    let why = tokio::select! {
        // A request first: what ends because of it did not fall over.
        biased;
        () = ingest.shutdown.requested() => Ok(()),
        ended = &mut boot => match ended {
            Ok(Ok(())) | Err(_) => Err(RunError::Panicked),
            Ok(Err(refusal)) => Err(refusal.into()),
        },
        ended = &mut webhooks => Err(server_ended(ended)),
        ended = &mut ops => Err(server_ended(ended)),
    };
    // Without a reason to wait for anybody, those in flight are cut off: they deliver again.
    webhooks_handle.stop(why.is_ok()).await;
    ingest.committer.close();
    if why.is_ok() && tokio::time::timeout(LAST_GROUP, &mut boot).await.is_err() {
        tracing::warn!("the last group of deliveries was still in flight");
    }
    boot.abort();
    ops_handle.stop(false).await;
    why
}

fn server_ended(ended: Result<io::Result<()>, JoinError>) -> RunError {
    match ended {
        Ok(Ok(())) | Err(_) => RunError::Panicked,
        Ok(Err(error)) => RunError::Server(error),
    }
}
