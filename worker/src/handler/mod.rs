//! The rules: what an event means. Pure functions of (event, facts, now); nothing here
//! talks to a database, a network, a log or a clock.
//!
//! One event family a file: `subscription`, `checkout`, `customer`. What they share:
//!
//! - `register`: how news of one object join, in whatever order they come
//! - `affected`: what follows for a customer, with `links` and `entitlement`
//! - `credits`: purchases, and what they grant
//! - [`facts`], [`decision`]: what goes in and what comes out, as data
//!
//! The state is a function of the *set* of events: no rule may ask which came first.

mod affected;
mod checkout;
mod credits;
mod customer;
pub mod decision;
mod effects;
mod entitlement;
pub mod facts;
mod links;
mod register;
mod status;
mod subscription;
#[cfg(test)]
pub(crate) mod tests;

use bson::DateTime;
use hookledger_shared::config::{Catalogue, MetadataNames};
use hookledger_shared::model::book::Book;
use hookledger_shared::model::event::LedgerEvent;

pub use decision::{Changes, Decision, Effect, RejectKind, Rejection, Topic};
pub(crate) use effects::entitlement_changed;
pub use facts::{Facts, Need};

use crate::stripe::customer::CustomerRead;
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
    /// Whose books it belongs to.
    pub book: Book,
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
}

impl Input {
    /// Reads the event's body, once.
    ///
    /// # Errors
    /// A rejection of kind `unreadable` when the body is not what its type promises.
    pub fn read(event: &LedgerEvent, rules: &Rules) -> Result<Self, Rejection> {
        Envelope::read(event)
            .and_then(|envelope| Self::of(&envelope, rules))
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

    fn of(envelope: &Envelope, rules: &Rules) -> Result<Self, Unreadable> {
        let names = &rules.metadata;
        let family = Family::of(&envelope.kind).ok_or(Unreadable::Field("type"))?;
        let subject = match family {
            Family::Subscription => {
                Subject::Subscription(stripe::subscription::read(envelope, names)?)
            }
            Family::Checkout => Subject::Checkout(stripe::session::read(envelope, names)?),
            Family::Customer => Subject::Customer(stripe::customer::read(envelope, names)?),
        };
        Ok(Self {
            event: About {
                id: envelope.id.clone(),
                kind: envelope.kind.clone(),
                created: envelope.created,
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
        }
    }
}
