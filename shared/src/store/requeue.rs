//! Putting a dead letter back, with its line in the audit log: one transaction, so that
//! neither is true without the other.

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use mongodb::ClientSession;
use mongodb::error::Error;

use super::Stores;
use super::audit::Act;
use super::transaction::{Slot, TransactionError, Verdict, Work};
use crate::model::event::Status;
use crate::model::outbox::MessageStatus;

/// One dead letter's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetter {
    /// In the ledger.
    Event(ObjectId),
    /// In the outbox.
    Message(ObjectId),
}

/// Who acts, as the audit log names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The system's user, or the way in.
    pub who: String,
    /// The host or address.
    pub from: String,
}

impl Stores {
    /// Puts a dead letter back and says so in the audit log. False when it was not dead any
    /// more; then the log says nothing.
    ///
    /// # Errors
    /// When the database did not do it, or when that is not known; it may be asked again.
    pub async fn requeue(
        &self,
        slot: &mut Slot,
        letter: DeadLetter,
        operator: &Operator,
        now: DateTime,
    ) -> Result<bool, TransactionError> {
        let mut requeue = Requeue {
            stores: self,
            letter,
            operator,
            now,
        };
        let ended = slot.in_transaction(self.op_timeout, &mut requeue).await?;
        Ok(ended.value)
    }
}

struct Requeue<'a> {
    stores: &'a Stores,
    letter: DeadLetter,
    operator: &'a Operator,
    now: DateTime,
}

impl Work for Requeue<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let (before, after) = match self.letter {
            DeadLetter::Event(id) => {
                let before = self.stores.events.requeue(session, id).await?;
                (before, fresh(Status::Received.as_str()))
            }
            DeadLetter::Message(id) => {
                let before = self.stores.outbox.requeue(session, id).await?;
                (before, fresh(MessageStatus::Pending.as_str()))
            }
        };
        let Some(before) = before else {
            return Ok(Verdict::Abort(false));
        };
        let act = Act {
            who: self.operator.who.clone(),
            what: "dead-letters retry",
            when: self.now,
            from: self.operator.from.clone(),
            before,
            after,
        };
        self.stores.audit.append(session, &act).await?;
        Ok(Verdict::Commit(true))
    }
}

fn fresh(status: &str) -> Document {
    doc! { "status": status, "attempts": 0, "crashes": 0 }
}
