//! One delivery loop of one destination. A dead receiver keeps only its own loops busy.

use std::sync::Arc;

use hookledger_shared::shutdown::Shutdown;

use super::Step;
use super::processor::Trouble;
use crate::app::{Context, pause};
use crate::outbox::{self, Deliverer};

/// How many sends to one destination may be under way from one process.
pub const LOOPS_A_DESTINATION: usize = 4;

/// Runs until a stop is asked for; the message in hand is finished first.
pub async fn run(
    context: Context,
    deliverer: Arc<Deliverer>,
    destination: String,
    shutdown: Shutdown,
) {
    let mut changes = context.wakeup.outbox_changes();
    let mut trouble = Trouble::default();
    while !shutdown.is_requested() {
        match outbox::deliver_next(&deliverer, &destination).await {
            Ok(Step::Worked) => trouble.is_over("delivering"),
            Ok(Step::Idle) => {
                trouble.is_over("delivering");
                tokio::select! {
                    _ = changes.changed() => {}
                    () = shutdown.requested() => {}
                }
            }
            Err(error) => {
                let wait = trouble.met("delivering", &error);
                pause(wait, &shutdown).await;
            }
        }
    }
}
