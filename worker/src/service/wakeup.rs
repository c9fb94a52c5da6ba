//! Waking loops that wait: by a change stream on the ledger, which is only a hint, and by a
//! poll behind it, which is the truth. An idle worker asks once a second, in one loop.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::{Notify, watch as channel};

use crate::app::Context;

/// How long an event may wait when every hint was lost.
const POLL: Duration = Duration::from_secs(1);
/// The pause before a lost change stream is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// What loops wait on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Wakeup {
    events: Arc<Notify>,
    outbox: channel::Sender<u64>,
}

impl Default for Wakeup {
    fn default() -> Self {
        Self::new()
    }
}

impl Wakeup {
    /// Nobody waits yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            events: Arc::new(Notify::new()),
            outbox: channel::Sender::new(0),
        }
    }

    /// Wakes one processor. It wakes the next when it finds work, so a burst wakes all and
    /// a single event wakes one.
    pub fn event(&self) {
        self.events.notify_one();
    }

    /// Waits for [`Self::event`].
    pub async fn event_waits(&self) {
        self.events.notified().await;
    }

    /// Wakes every deliverer.
    pub fn outbox(&self) {
        self.outbox
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// What a deliverer waits on.
    #[must_use]
    pub fn outbox_changes(&self) -> channel::Receiver<u64> {
        self.outbox.subscribe()
    }
}

/// The truth: everything due is found by asking, whatever hints were lost.
pub async fn poll(context: Context) {
    let mut ticks = tokio::time::interval(POLL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        context.wakeup.event();
        context.wakeup.outbox();
    }
}

/// The hint: an insert into the ledger wakes a processor at once. A stream that is lost, or
/// whose history has rolled past, is opened anew at now; the poll covers the gap.
pub async fn watch(context: Context) {
    loop {
        match context.stores.events.watch_inserts().await {
            Ok(mut stream) => {
                while let Some(Ok(_)) = stream.next().await {
                    context.wakeup.event();
                }
                tracing::debug!("the change stream ended; opening it again");
            }
            Err(error) => tracing::debug!(%error, "no change stream; polling until there is one"),
        }
        tokio::time::sleep(REOPEN).await;
        context.wakeup.event();
    }
}
