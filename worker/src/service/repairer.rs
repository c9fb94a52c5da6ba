//! The loop that asks Stripe where events alone can't tell. One a worker, one question at a
//! time; it leaves Stripe alone while that does not help.

use std::time::Duration;

use hookledger_shared::shutdown::Shutdown;

use super::processor::Trouble;
use crate::app::{Context, pause};
use crate::repair::breaker::{Breaker, Health};
use crate::repair::client::Client;
use crate::repair::{Turn, repair_next};

/// How often it is looked whether something is due.
const POLL: Duration = Duration::from_secs(1);

/// Runs until a stop is asked for; the question in hand is finished first.
pub async fn run(context: Context, client: Client, shutdown: Shutdown) {
    let mut breaker = Breaker::default();
    let mut trouble = Trouble::default();
    while !shutdown.is_requested() {
        let wait = match repair_next(&context, &client).await {
            Ok(Turn::Idle) => {
                trouble.is_over("repairing");
                POLL
            }
            Ok(Turn::Asked(health)) => {
                trouble.is_over("repairing");
                let before = breaker.failures();
                let wait = breaker.wait(health, fastrand::f64());
                tell(&breaker, health, before, wait);
                wait
            }
            Err(error) => trouble.met("repairing", &error),
        };
        pause(wait, &shutdown).await;
    }
}

fn tell(breaker: &Breaker, health: Health, before: u32, wait: Duration) {
    if health == Health::Well && before > 0 {
        tracing::info!(after = before, "Stripe answers again");
    } else if health == Health::Refusing && breaker.has_just_opened() {
        tracing::error!(
            ?wait,
            "Stripe does not take stripe.api_key; flagged subscriptions stay as they are"
        );
    } else if breaker.has_just_opened() {
        tracing::warn!(?health, ?wait, "Stripe does not answer; asking again later");
    }
}
