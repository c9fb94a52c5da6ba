//! Noticing that the primary is gone. The driver's monitor finds a frozen primary within
//! seconds, but an operation that is already under way on its connection waits for its own
//! time-out. Who holds a watch need not.

use mongodb::ServerType;
use mongodb::event::EventHandler;
use mongodb::event::sdam::{SdamEvent, ServerDescriptionChangedEvent};
use tokio::sync::watch;

/// Counts how often a primary has stopped being one. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct PrimaryWatch(watch::Receiver<u64>);

impl PrimaryWatch {
    /// A watch, and the handler that the driver tells what its monitor sees.
    pub(super) fn new() -> (Self, EventHandler<SdamEvent>) {
        let (sender, receiver) = watch::channel(0);
        let heard = move |event: SdamEvent| {
            if let SdamEvent::ServerDescriptionChanged(change) = event
                && lost_its_primary(&change)
            {
                sender.send_modify(|count| *count += 1);
            }
        };
        (Self(receiver), EventHandler::callback(heard))
    }

    /// What `operation` gives, or nothing once a primary is lost while it is under way: then
    /// its outcome is unknown.
    pub(super) async fn unless_lost<T>(&self, operation: impl Future<Output = T>) -> Option<T> {
        let mut lost = self.0.clone();
        lost.mark_unchanged();
        tokio::select! {
            biased;
            output = operation => Some(output),
            Ok(()) = lost.changed() => None,
        }
    }
}

fn lost_its_primary(change: &ServerDescriptionChangedEvent) -> bool {
    let was = change.previous_description.server_type() == ServerType::RsPrimary;
    was && change.new_description.server_type() != ServerType::RsPrimary
}
