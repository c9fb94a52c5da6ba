//! The rules: what an event means. Pure functions of (event, facts, now); nothing here
//! talks to a database, a network, a log or a clock.
//!
//! One event family a file: `subscription`, `schedule`, `checkout`, `customer`, `invoice`,
//! and in `payment` what is about money taken and given back. What they share:
//!
//! - `register`: how news of one object join, in whatever order they come
//! - `affected`: what follows for a customer, with `links` and `entitlement`
//! - `check`: when the provider shall be asked, because events alone can't tell
//! - `credits`: purchases, and what they grant
//! - [`facts`], [`decision`]: what goes in and what comes out, as data
//!
//! The state is a function of the *set* of events: no rule may ask which came first.

mod affected;
pub(crate) mod check;
mod checkout;
mod credits;
mod customer;
pub mod decision;
mod effects;
mod entitlement;
pub mod facts;
mod invoice;
mod links;
mod payment;
mod register;
mod schedule;
mod status;
mod subscription;
#[cfg(test)]
pub(crate) mod tests;

use bson::DateTime;
use hookledger_shared::config::{Catalogue, MetadataNames};
use hookledger_shared::model::book::Book;
use hookledger_shared::model::event::LedgerEvent;
use hookledger_shared::model::register::Seen;

pub use decision::{Changes, Decision, Effect, RejectKind, Rejection, Topic};
pub(crate) use effects::entitlement_changed;
pub use facts::{Facts, Need};

use crate::stripe::charge::ChargeRead;
use crate::stripe::customer::CustomerRead;
use crate::stripe::intent::PaidRead;
use crate::stripe::invoice::InvoiceRead;
use crate::stripe::reversal::ReversalRead;
use crate::stripe::schedule::ScheduleRead;
use crate::stripe::session::SessionRead;
use crate::stripe::subscription::SubscriptionRead;
use crate::stripe::{self, Envelope, Unreadable};

/// What the operator configured that rules depend on.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// What credit packs are worth.
    pub catalogue: Catalogue,
    /// What the product calls its metadata.
    pub metadata: MetadataNames,
}

/// The event families. A closed set: the compiler lists what a new one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `customer.subscription.*`
    Subscription,
    /// `checkout.session.*`, once the customer has finished it
    Checkout,
    /// `customer.created`, `.updated`, `.deleted`
    Customer,
    /// `subscription_schedule.*`
    Schedule,
    /// `invoice.*`, once it is to be paid
    Invoice,
    /// `payment_intent.succeeded`
    Intent,
    /// `charge.succeeded`, `.captured`, `.refunded`
    Charge,
    /// `refund.*`, and `charge.refund.updated`
    Refund,
    /// `charge.dispute.*`
    Dispute,
}

impl Family {
    /// The family of an event type; none when nobody handles it.
    #[must_use]
    pub fn of(event_type: &str) -> Option<Self> {
        match event_type {
            "customer.subscription.created"
            | "customer.subscription.updated"
            | "customer.subscription.deleted"
            | "customer.subscription.paused"
            | "customer.subscription.resumed"
            | "customer.subscription.trial_will_end"
            | "customer.subscription.pending_update_applied"
            | "customer.subscription.pending_update_expired" => Some(Self::Subscription),
            "checkout.session.completed"
            | "checkout.session.async_payment_succeeded"
            | "checkout.session.async_payment_failed" => Some(Self::Checkout),
            "customer.created" | "customer.updated" | "customer.deleted" => Some(Self::Customer),
            "subscription_schedule.created"
            | "subscription_schedule.updated"
            | "subscription_schedule.released"
            | "subscription_schedule.completed"
            | "subscription_schedule.canceled"
            | "subscription_schedule.aborted" => Some(Self::Schedule),
            "invoice.finalized"
            | "invoice.paid"
            | "invoice.payment_succeeded"
            | "invoice.payment_failed"
            | "invoice.payment_action_required"
            | "invoice.voided"
            | "invoice.marked_uncollectible" => Some(Self::Invoice),
            "payment_intent.succeeded" => Some(Self::Intent),
            "charge.succeeded" | "charge.captured" | "charge.refunded" => Some(Self::Charge),
            "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
                Some(Self::Refund)
            }
            "charge.dispute.created"
            | "charge.dispute.updated"
            | "charge.dispute.funds_withdrawn"
            | "charge.dispute.funds_reinstated"
            | "charge.dispute.closed" => Some(Self::Dispute),
            _ => None,
        }
    }
}

/// An event as its rule sees it, read before the transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Which event.
    pub event: About,
    /// What it says.
    pub subject: Subject,
}

/// What every rule knows of its event.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The id in the ledger.
    pub id: String,
    /// The provider's type.
    pub kind: String,
    /// The provider's second.
    pub created: i64,
    /// When it came.
    pub received_at: DateTime,
    /// Whose books it belongs to.
    pub book: Book,
}

impl About {
    /// What the event says of its object, as a register keeps it.
    fn seen<I: Clone>(&self, rank: i32, after: &I, before: Option<&I>) -> Seen<I> {
        Seen {
            id: self.id.clone(),
            rank,
            after: after.clone(),
            before: before.cloned(),
            covers: None,
        }
    }
}

/// What a rule decides on, beside what the event says.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    event: &'a About,
    facts: &'a Facts,
    rules: &'a Rules,
    now: DateTime,
}

/// The object an event is about, as read.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A subscription.
    Subscription(SubscriptionRead),
    /// A checkout session.
    Checkout(SessionRead),
    /// A customer.
    Customer(CustomerRead),
    /// A subscription schedule.
    Schedule(ScheduleRead),
    /// An invoice.
    Invoice(InvoiceRead),
    /// A payment intent.
    Intent(PaidRead),
    /// A charge.
    Charge(ChargeRead),
    /// A refund.
    Refund(ReversalRead),
    /// A dispute.
    Dispute(ReversalRead),
}

impl Family {
    /// The family of a row: an answer to a question of ours by what the row is, anything
    /// else by its type.
    #[must_use]
    pub fn of_row(event: &LedgerEvent) -> Option<Self> {
        if event.is_observation() {
            return Some(Self::Subscription);
        }
        event.event_type.as_deref().and_then(Self::of)
    }
}

impl Input {
    /// Reads the event's body, once.
    ///
    /// # Errors
    /// A rejection of kind `unreadable` when the body is not what its type promises.
    pub fn read(event: &LedgerEvent, rules: &Rules) -> Result<Self, Rejection> {
        Envelope::read(event)
            .and_then(|envelope| Self::of(&envelope, event.received_at, rules))
            .map_err(Self::unreadable)
    }

    /// An unreadable body as the dead letter it becomes.
    fn unreadable(unreadable: Unreadable) -> Rejection {
        Rejection {
            kind: RejectKind::Unreadable,
            message: unreadable.to_string(),
            record: None,
        }
    }

    fn of(envelope: &Envelope, received_at: DateTime, rules: &Rules) -> Result<Self, Unreadable> {
        let names = &rules.metadata;
        let family = match &envelope.covers {
            Some(_) => Family::Subscription,
            None => Family::of(&envelope.kind).ok_or(Unreadable::Field("type"))?,
        };
        let subject = match family {
            Family::Subscription => {
                Subject::Subscription(stripe::subscription::read(envelope, names)?)
            }
            Family::Checkout => Subject::Checkout(stripe::session::read(envelope, names)?),
            Family::Customer => Subject::Customer(stripe::customer::read(envelope, names)?),
            Family::Schedule => Subject::Schedule(stripe::schedule::read(envelope)?),
            Family::Invoice => Subject::Invoice(stripe::invoice::read(envelope)?),
            Family::Intent => Subject::Intent(stripe::intent::read(envelope, names)?),
            Family::Charge => Subject::Charge(stripe::charge::read(envelope, names)?),
            Family::Refund => Subject::Refund(stripe::reversal::read(envelope, "refund")?),
            Family::Dispute => Subject::Dispute(stripe::reversal::read(envelope, "dispute")?),
        };
        Ok(Self {
            event: About {
                id: envelope.id.clone(),
                kind: envelope.kind.clone(),
                created: envelope.created,
                received_at,
                book: envelope.book.clone(),
            },
            subject,
        })
    }

    /// What must be read before [`decide`](Self::decide), given what was read so far. What
    /// is found may ask for more, so this is repeated until it asks for nothing new.
    #[must_use]
    pub fn needs(&self, facts: &Facts) -> Vec<Need> {
        match &self.subject {
            Subject::Subscription(read) => subscription::needs(read, facts),
            Subject::Checkout(read) => checkout::needs(read, facts),
            Subject::Customer(read) => customer::needs(read),
            Subject::Schedule(read) => affected::needs(&read.customer_id).into(),
            Subject::Invoice(read) => invoice::needs(read, facts),
            Subject::Intent(read) => payment::paid::needs(read, facts),
            Subject::Charge(read) => payment::paid::needs(&read.paid, facts),
            Subject::Refund(read) | Subject::Dispute(read) => {
                credits::needs(&read.payment_id, None, facts)
            }
        }
    }

    /// What becomes of the event. `facts` must answer all of [`needs`](Self::needs).
    #[must_use]
    pub fn decide(&self, facts: &Facts, rules: &Rules, now: DateTime) -> Decision {
        let case = Case {
            event: &self.event,
            facts,
            rules,
            now,
        };
        match &self.subject {
            Subject::Subscription(read) => subscription::decide(&case, read),
            Subject::Checkout(read) => checkout::decide(&case, read),
            Subject::Customer(read) => customer::decide(&case, read),
            Subject::Schedule(read) => schedule::decide(&case, read),
            Subject::Invoice(read) => invoice::decide(&case, read),
            Subject::Intent(read) => payment::paid::intent(&case, read),
            Subject::Charge(read) => payment::paid::charge(&case, read),
            Subject::Refund(read) => payment::reversal::refund(&case, read),
            Subject::Dispute(read) => payment::reversal::dispute(&case, read),
        }
    }
}

/// The provider's seconds as a time.
fn time(seconds: i64) -> DateTime {
    DateTime::from_millis(seconds.saturating_mul(1_000))
}
