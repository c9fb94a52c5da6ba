//! The body of an event's transaction. The fence comes first; then facts are read, the
//! handler decides (pure), and its changes are written with the event's outcome. It may be
//! run again after a conflict, so it keeps nothing between runs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hookledger_shared::model::event::{LedgerEvent, Outcome};
use hookledger_shared::model::lease::Claim;
use hookledger_shared::store::events::Failure;
use hookledger_shared::store::transaction::{Verdict, Work};
use mongodb::ClientSession;
use mongodb::error::Error;

use super::{apply, load};
use crate::app::Context;
use crate::handler::{Changes, Decision, Input, Rejection};

/// One run's answer.
#[derive(Debug)]
pub(super) enum Applied {
    /// The claim's row did not match: nothing was written.
    FenceMissed,
    /// Committed.
    Concluded {
        /// With this outcome.
        outcome: Outcome,
        /// What other events may have waited for.
        arrived: Vec<String>,
    },
    /// Committed as a dead letter, with what it records.
    Buried {
        /// Why.
        failure: Failure,
        /// See [`Changes::arrived`].
        arrived: Vec<String>,
    },
    /// Aborted: to be buried outside.
    Rejected(Rejection),
    /// Aborted: something is missing.
    Deferred(String),
    /// Aborted: the handler panicked.
    Panicked,
}

pub(super) struct Transaction<'a> {
    pub(super) context: &'a Context,
    pub(super) event: &'a LedgerEvent,
    pub(super) claim: &'a Claim,
    pub(super) input: &'a Input,
}

impl Work for Transaction<'_> {
    type Output = Applied;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<Applied>, Error> {
        let stores = &self.context.stores;
        if !stores.events.fence(session, self.claim).await? {
            return Ok(Verdict::Abort(Applied::FenceMissed));
        }
        let facts = load::load(stores, session, self.input).await?;
        let now = self.context.clock.now();
        let decide = || self.input.decide(&facts, &self.context.rules, now);
        // Unwind safety: the rules are pure, and nothing they touched is used again.
        let Ok(decision) = catch_unwind(AssertUnwindSafe(decide)) else {
            return Ok(Verdict::Abort(Applied::Panicked));
        };
        match decision {
            Decision::Apply(changes) => self.conclude(session, changes, Outcome::Applied).await,
            Decision::Stale(changes) => self.conclude(session, changes, Outcome::Stale).await,
            Decision::Defer { waits_for } => Ok(Verdict::Abort(Applied::Deferred(waits_for))),
            Decision::Reject(Rejection {
                kind,
                message,
                record: Some(changes),
            }) => {
                let kind = kind.as_str().to_owned();
                self.conclude_dead(session, *changes, Failure { kind, message })
                    .await
            }
            Decision::Reject(rejection) => Ok(Verdict::Abort(Applied::Rejected(rejection))),
        }
    }
}

impl Transaction<'_> {
    async fn conclude(
        &self,
        session: &mut ClientSession,
        mut changes: Changes,
        outcome: Outcome,
    ) -> Result<Verdict<Applied>, Error> {
        let arrived = std::mem::take(&mut changes.arrived);
        self.write(session, changes).await?;
        let retention = self.context.settings.retention;
        let events = &self.context.stores.events;
        events
            .conclude(session, self.claim, outcome, retention)
            .await?;
        Ok(Verdict::Commit(Applied::Concluded { outcome, arrived }))
    }

    async fn conclude_dead(
        &self,
        session: &mut ClientSession,
        mut changes: Changes,
        failure: Failure,
    ) -> Result<Verdict<Applied>, Error> {
        let arrived = std::mem::take(&mut changes.arrived);
        self.write(session, changes).await?;
        let events = &self.context.stores.events;
        events.conclude_dead(session, self.claim, &failure).await?;
        Ok(Verdict::Commit(Applied::Buried { failure, arrived }))
    }

    async fn write(&self, session: &mut ClientSession, changes: Changes) -> Result<(), Error> {
        let settings = &self.context.settings;
        let (routing, settle) = (&settings.routing, settings.settle);
        apply::apply(
            &self.context.stores,
            session,
            self.event,
            changes,
            routing,
            settle,
        )
        .await
    }
}
