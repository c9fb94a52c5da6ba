//! Bringing back what dead workers held, a page at a time: kill their sessions, then put
//! the rows back. A crash is counted only against an owner that is really dead.

use std::collections::HashMap;
use std::time::Duration;

use hookledger_shared::model::lease::Transition;
use hookledger_shared::store::StoreError;
use hookledger_shared::store::events::Failure;
use hookledger_shared::store::leased::Expired;
use hookledger_shared::telemetry::metrics::Row;

use super::alive::Alive;
use crate::app::Context;

/// Rows a round.
const PAGE: i64 = 64;
/// A worker that died this often with a row in hand is not asked to try again.
const MAX_CRASHES: u32 = 3;
/// The longest pause between two rounds.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Rows of workers that are gone are kept this long, for people who ask.
const FORGET_AFTER: Duration = Duration::from_secs(24 * 3_600);
/// The kind of a dead letter whose workers died.
const CRASHED: &str = "crashed";

/// What is known of a lease's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// It renews its row: the lease ran out in an outage or a long pause.
    Alive,
    /// It would have renewed, since we could.
    Dead,
    /// It did not renew, but we have not been able to for long enough ourselves. A worker
    /// restarted after its death soon will have been.
    Unsure,
}

fn judge(unseen: Option<Duration>, unbroken: Option<Duration>, lease: Duration) -> Owner {
    if unseen.is_some_and(|unseen| unseen <= lease) {
        return Owner::Alive;
    }
    match unbroken {
        // Longer than the third of a lease in which a living owner renews.
        Some(unbroken) if unbroken >= lease / 2 => Owner::Dead,
        Some(_) | None => Owner::Unsure,
    }
}

/// Rescues again and again.
pub async fn run(context: Context, alive: Alive) {
    if let Err(error) = context.stores.workers.forget_older_than(FORGET_AFTER).await {
        tracing::debug!(%error, "old rows of workers stay");
    }
    let pause = (context.settings.lease / 10).min(MAX_PAUSE);
    loop {
        tokio::time::sleep(pause).await;
        if let Err(error) = round(&context, &alive).await {
            tracing::debug!(%error, "no rescue in this round");
        }
    }
}

/// One page of events and one of messages.
async fn round(context: &Context, alive: &Alive) -> Result<(), StoreError> {
    let mut owners = Owners {
        context,
        alive,
        known: HashMap::new(),
    };
    events(context, &mut owners).await?;
    messages(context, &mut owners).await
}

async fn events(context: &Context, owners: &mut Owners<'_>) -> Result<(), StoreError> {
    let expired = context.stores.events.expired(PAGE).await?;
    let judged = owners.judge_all(expired).await?;
    let leases = judged.iter().map(|(row, _)| &row.lease);
    context.stores.kill_sessions(leases).await?;
    for (row, crashed) in judged {
        let crashes = row.crashes + u32::from(crashed);
        let moved = if crashed && crashes >= MAX_CRASHES {
            let moved = context
                .stores
                .events
                .bury_crashed(&row, &too_often(crashes))
                .await?;
            note_burial(context, Row::Event, moved);
            moved
        } else {
            context.stores.events.rescue(&row, crashed).await?
        };
        if moved == Some(Transition::Done) {
            note(context, "event", &row, crashed);
            context.wakeup.event();
        }
    }
    Ok(())
}

async fn messages(context: &Context, owners: &mut Owners<'_>) -> Result<(), StoreError> {
    let expired = context.stores.outbox.expired(PAGE).await?;
    for (row, crashed) in owners.judge_all(expired).await? {
        let crashes = row.crashes + u32::from(crashed);
        let bury = (crashed && crashes >= MAX_CRASHES).then(|| too_often(crashes));
        let rescue = context.stores.outbox.rescue(&row, crashed, bury.as_ref());
        let moved = rescue.await?;
        if bury.is_some() {
            note_burial(context, Row::Message, Some(moved));
        }
        if moved == Transition::Done {
            note(context, "message", &row, crashed);
            context.wakeup.outbox();
        }
    }
    Ok(())
}

fn too_often(crashes: u32) -> Failure {
    Failure {
        kind: CRASHED.to_owned(),
        message: format!("its worker died with it {crashes} times"),
    }
}

fn note_burial(context: &Context, what: Row, moved: Option<Transition>) {
    if moved == Some(Transition::Done) {
        context.metrics.buried(what, CRASHED);
    }
}

fn note(context: &Context, what: &'static str, row: &Expired, crashed: bool) {
    context.metrics.rescued(1, u64::from(crashed));
    tracing::warn!(what, row = %row.id, owner = %row.lease.owner, crashed, "lease over: brought back");
}

struct Owners<'a> {
    context: &'a Context,
    alive: &'a Alive,
    known: HashMap<String, Owner>,
}

impl Owners<'_> {
    /// The rows that may be brought back now, each with whether its owner crashed.
    async fn judge_all(&mut self, rows: Vec<Expired>) -> Result<Vec<(Expired, bool)>, StoreError> {
        let mut judged = Vec::with_capacity(rows.len());
        for row in rows {
            match self.of(&row.lease.owner).await? {
                Owner::Alive => judged.push((row, false)),
                Owner::Dead => judged.push((row, true)),
                Owner::Unsure => {}
            }
        }
        Ok(judged)
    }

    async fn of(&mut self, owner: &str) -> Result<Owner, StoreError> {
        if owner == &*self.context.owner {
            return Ok(Owner::Alive);
        }
        if let Some(known) = self.known.get(owner) {
            return Ok(*known);
        }
        let unseen = self.context.stores.workers.unseen_for(owner).await?;
        let lease = self.context.settings.lease;
        let owner_is = judge(unseen, self.alive.unbroken_for(), lease);
        self.known.insert(owner.to_owned(), owner_is);
        Ok(owner_is)
    }
}

/// The last act of a shutdown: whatever is still ours goes back at once, and our row goes.
pub async fn release_all(context: &Context) {
    if let Err(error) = try_release_all(context).await {
        tracing::warn!(%error, "what was in hand could not be released; its leases run out");
    }
}

async fn try_release_all(context: &Context) -> Result<(), StoreError> {
    let stores = &context.stores;
    let held = stores.events.held_by(&context.owner).await?;
    stores
        .kill_sessions(held.iter().map(|row| &row.lease))
        .await?;
    let events = stores.events.release_all(&context.owner).await?;
    let messages = stores.outbox.release_all(&context.owner).await?;
    stores.workers.leave(&context.owner).await?;
    tracing::info!(events, messages, "released what was in hand");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_owner_that_would_have_renewed_is_dead() {
        let lease = Duration::from_secs(30);
        let s = |seconds| Some(Duration::from_secs(seconds));
        for (unseen, unbroken, expected) in [
            (s(5), s(100), Owner::Alive),
            (s(30), None, Owner::Alive),
            (s(31), s(15), Owner::Dead),
            (None, s(15), Owner::Dead),
            (s(300), s(14), Owner::Unsure),
            (s(300), None, Owner::Unsure),
            (None, None, Owner::Unsure),
        ] {
            assert_eq!(
                judge(unseen, unbroken, lease),
                expected,
                "{unseen:?} {unbroken:?}"
            );
        }
    }
}
