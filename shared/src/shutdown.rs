//! Asking every part of a process to stop. What a part does about it is its own affair:
//! ingest answers what is in flight, the worker finishes or releases what it holds.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::task;

/// Told to stop, or not yet. Cheap to clone; every clone hears the same request.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// Asks for the stop. When the last clone is dropped that counts as a request too: whoever
/// could have stopped us is gone, and a process that can't be stopped is worse.
#[derive(Debug, Clone)]
pub struct Trigger(watch::Sender<bool>);

impl Shutdown {
    /// A trigger and what hears it.
    #[must_use]
    pub fn new() -> (Trigger, Self) {
        let (sender, receiver) = watch::channel(false);
        (Trigger(sender), Self(receiver))
    }

    /// Returns once the stop has been requested; at once when it already was.
    /// Safe to drop and call again, so it fits into `tokio::select!`.
    pub async fn requested(&self) {
        // An error means that every trigger is gone, which is a request as well.
        let _ = self.0.clone().wait_for(|requested| *requested).await;
    }

    /// Whether the stop has been requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}

impl Trigger {
    /// Requests the stop. Doing it again changes nothing.
    pub fn request(&self) {
        self.0.send_replace(true);
    }
}

/// Pulls the trigger at SIGTERM or SIGINT. Must be called inside a tokio runtime.
///
/// # Errors
/// When the handlers can't be installed.
pub fn on_signals(trigger: Trigger) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    task::spawn("signals", async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, "stopping");
        trigger.request();
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_clone_hears_the_request() {
        let (trigger, shutdown) = Shutdown::new();
        let clone = shutdown.clone();
        assert!(!clone.is_requested());
        trigger.request();
        trigger.request();
        clone.requested().await;
        shutdown.requested().await;
        assert!(clone.is_requested() && shutdown.is_requested());
    }

    #[tokio::test]
    async fn losing_the_last_trigger_is_a_request() {
        let (trigger, shutdown) = Shutdown::new();
        let second = trigger.clone();
        drop(trigger);
        assert!(!shutdown.is_requested());
        drop(second);
        shutdown.requested().await;
        assert!(shutdown.is_requested());
    }
}
