//! One processor: a session, and event after event on it.

use std::time::Duration;

use hookledger_shared::backoff::Backoff;
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::store::StoreError;
use hookledger_shared::store::transaction::Slot;

use super::Step;
use crate::app::{Context, pause};
use crate::event;

/// Runs until a stop is asked for; the event in hand is finished first.
pub async fn run(context: Context, shutdown: Shutdown) {
    let mut slot = None;
    let mut trouble = Trouble::default();
    while !shutdown.is_requested() {
        match step(&context, &mut slot).await {
            Ok(Step::Worked) => trouble.is_over("processing"),
            Ok(Step::Idle) => {
                trouble.is_over("processing");
                tokio::select! {
                    () = context.wakeup.event_waits() => {}
                    () = shutdown.requested() => {}
                }
            }
            Err(error) => {
                let wait = trouble.met("processing", &error);
                pause(wait, &shutdown).await;
            }
        }
    }
}

async fn step(context: &Context, slot: &mut Option<Slot>) -> Result<Step, StoreError> {
    let usable = slot.take().filter(|slot| !slot.is_spent());
    let slot = match usable {
        Some(open) => slot.insert(open),
        None => slot.insert(Slot::open(&context.stores).await?),
    };
    event::process_next(context, slot).await
}

/// How long the database has been in trouble, for pauses and for logging it once.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    times: u32,
}

impl Trouble {
    /// Counts one more, and says how long to wait.
    pub(super) fn met(&mut self, what: &'static str, error: &StoreError) -> Duration {
        self.times = self.times.saturating_add(1);
        if self.times == 1 {
            tracing::warn!(%error, what, "the database is in trouble; trying again, nothing is counted");
        } else {
            tracing::debug!(%error, what, times = self.times, "still in trouble");
        }
        patience().map_or(MAX_WAIT, |patience| {
            patience.delay(self.times, fastrand::f64().max(MIN_SHARE))
        })
    }

    /// Forgets it.
    pub(super) fn is_over(&mut self, what: &'static str) {
        if self.times > 0 {
            tracing::info!(what, after = self.times, "the database answers again");
            self.times = 0;
        }
    }
}

/// The longest wait between two tries.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// No try follows at once on a failed one.
const MIN_SHARE: f64 = 0.2;

fn patience() -> Option<Backoff> {
    Backoff::try_new(Duration::from_millis(100), 2.0, MAX_WAIT, u32::MAX).ok()
}
