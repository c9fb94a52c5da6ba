//! Repair: asking Stripe for a subscription where events alone can't tell its state, or
//! don't come. What a check is and when one is due is a rule (`handler::check`); here is
//! what one goes through.
//!
//! ```text
//! claim ─ ask (no transaction is open) ─ plan ─┬─ an observation, into the ledger
//!                                              └─ later | known already | given up
//! ```
//!
//! The answer changes nothing by itself: it becomes an event of the ledger, which is claimed
//! and applied like any other, so a rebuild comes to the same state. It names the events it
//! is newer than, and counts only while there are no others: that is the compare-and-swap.
//!
//! - [`client`]: one GET, without trust.
//! - [`plan`]: what an answer means: pure.
//! - [`observation`]: an answer as an event: pure.
//! - [`breaker`]: how long to leave Stripe alone: pure.

pub mod breaker;
pub mod client;
pub mod observation;
pub mod plan;
#[cfg(test)]
mod tests;

use std::time::Duration;

use hookledger_shared::model::lease::Transition;
use hookledger_shared::model::subscription::{Check, Subscription};
use hookledger_shared::store::{Insertion, StoreError};

use crate::app::Context;
use breaker::Health;
use client::Client;
use plan::{Outcome, Plan, Step};

/// How long nobody else asks for a subscription that we ask for: longer than the question
/// and the write of its answer can take.
const LEASE: Duration = Duration::from_secs(60);
/// How long the write of an answer may take.
const INSERT: Duration = Duration::from_secs(10);

/// What one turn did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// No check is due.
    Idle,
    /// Stripe was asked, and is like this.
    Asked(Health),
}

/// Asks for the subscription that has waited longest, if one is due.
///
/// # Errors
/// Trouble with the database: the check comes back when its lease is over.
pub async fn repair_next(context: &Context, client: &Client) -> Result<Turn, StoreError> {
    let subscriptions = &context.stores.subscriptions;
    let Some(subscription) = subscriptions.claim_check(client.livemode(), LEASE).await? else {
        return Ok(Turn::Idle);
    };
    let answer = client.subscription(&subscription).await;
    let health = Health::of(&answer, &subscription);
    let names = &context.rules.metadata;
    let now = context.clock.now();
    let plan = plan::plan(answer, &subscription, names, now, fastrand::f64());
    follow(context, &subscription, plan).await?;
    Ok(Turn::Asked(health))
}

async fn follow(
    context: &Context,
    subscription: &Subscription,
    plan: Plan,
) -> Result<(), StoreError> {
    let outcome = match plan.step {
        Step::Insert(event) => {
            let rows = [event.row()];
            let stored = context.stores.events.insert_many(&rows, INSERT).await?;
            match stored.first() {
                Some(Insertion::Stored) => {
                    context.wakeup.event();
                    plan.outcome
                }
                // It is on its way, or a dead letter: in time we look again.
                Some(Insertion::AlreadyHere) | None => {
                    put_off(context, subscription, plan.otherwise.as_ref()).await?;
                    Outcome::Duplicate
                }
                Some(Insertion::Refused(_)) => {
                    put_off(context, subscription, plan.otherwise.as_ref()).await?;
                    Outcome::Unreadable
                }
            }
        }
        Step::Nothing => {
            put_off(context, subscription, plan.otherwise.as_ref()).await?;
            plan.outcome
        }
    };
    context.metrics.repaired(outcome.as_str());
    let reason = subscription.next_check.as_ref().map(|check| check.reason);
    tracing::debug!(
        subscription = %subscription.id,
        ?reason,
        outcome = outcome.as_str(),
        "asked the provider"
    );
    if let Some(problem) = plan.flag {
        tracing::warn!(subscription = %subscription.id, problem, "the provider's answer is of no use");
    }
    Ok(())
}

async fn put_off(
    context: &Context,
    subscription: &Subscription,
    next: Option<&Check>,
) -> Result<(), StoreError> {
    let subscriptions = &context.stores.subscriptions;
    match subscriptions.plan_check(subscription, next).await? {
        Transition::Done => {}
        Transition::LeaseLost => {
            tracing::debug!(subscription = %subscription.id, "an event has planned its check anew");
        }
    }
    Ok(())
}
