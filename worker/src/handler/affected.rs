//! What follows for a customer once an event's facts are joined: the user, the entitlement,
//! and the effects that its subscriptions owe. Every family ends here, so that a link and a
//! subscription find each other whichever comes first.
//!
//! One-off effects about a subscription wait until the user is known, and are owed by what
//! *any* event has shown, however old. So the set of them depends on the set of events only.

use std::collections::BTreeSet;

use hookledger_shared::model::book::Book;
use hookledger_shared::model::customer::{
    Customer, Entitlement, Link, Owed, Schedule, ScheduleImage, Via,
};
use hookledger_shared::model::register::Seen;
use hookledger_shared::model::subscription::Subscription;

use super::decision::{Changes, Effect};
use super::facts::Need;
use super::{About, Case, check, effects, entitlement, links, register};

/// A customer and its subscriptions, on their way to how the event leaves them.
#[derive(Debug)]
pub(super) struct Affected<'a> {
    event: &'a About,
    before: Customer,
    customer: Customer,
    subscriptions: Vec<Subscription>,
    changed: BTreeSet<String>,
    messages: Vec<Owed>,
    touched: bool,
}

/// How many messages wait for a customer's user; more go out without one.
const MAX_OWED: usize = 100;

/// What [`Affected::new`] reads.
pub(super) fn needs(customer: &str) -> [Need; 2] {
    [
        Need::Customer(customer.to_owned()),
        Need::SubscriptionsOf(customer.to_owned()),
    ]
}

/// What an event waits for that needs to know who a customer is.
pub(super) fn link_of(book: &Book, customer: &str) -> String {
    book.key(&format!("link:{customer}"))
}

impl<'a> Affected<'a> {
    /// As they are.
    pub(super) fn new(case: &Case<'a>, customer: &str) -> Self {
        let customer_before = case.facts.customer(&case.event.book, customer);
        Self {
            event: case.event,
            customer: customer_before.clone(),
            before: customer_before,
            subscriptions: case.facts.subscriptions_of(customer).to_vec(),
            changed: BTreeSet::new(),
            messages: Vec::new(),
            touched: false,
        }
    }

    /// The event says that the customer is `user`.
    pub(super) fn link(&mut self, user: Option<&str>, via: Via) {
        let Some(user) = user else { return };
        let link = Link {
            user_id: user.to_owned(),
            via,
            created: self.event.created,
            event_id: self.event.id.clone(),
        };
        links::add(&mut self.customer, link);
    }

    /// The customer is gone, and what it had with it.
    pub(super) fn deleted(&mut self) {
        self.customer.deleted = true;
    }

    /// News of one of its schedules. Answers whether it was stale.
    pub(super) fn schedule(&mut self, id: &str, terminal: bool, seen: Seen<ScheduleImage>) -> bool {
        let schedules = &mut self.customer.schedules;
        let place = schedules.binary_search_by(|known| known.schedule_id.as_str().cmp(id));
        let stored = place.ok().map(|place| &schedules[place].register);
        let taken = register::take(stored, terminal, self.event.created, seen);
        let schedule = Schedule {
            schedule_id: id.to_owned(),
            current: taken.image,
            provisional: taken.provisional,
            register: taken.register,
        };
        match place {
            Ok(place) => schedules[place] = schedule,
            Err(place) => schedules.insert(place, schedule),
        }
        taken.stale
    }

    /// A one-off message that should name the user: it goes out when the user is known.
    pub(super) fn message(&mut self, message: Owed) {
        self.messages.push(message);
    }

    /// One of its objects changed.
    pub(super) fn touch(&mut self) {
        self.touched = true;
    }

    /// One of its subscriptions became this.
    pub(super) fn put(&mut self, subscription: Subscription) {
        self.take_away(&subscription.subscription_id);
        self.changed.insert(subscription.id.clone());
        self.subscriptions.push(subscription);
    }

    /// A subscription turned out not to be its own.
    pub(super) fn take_away(&mut self, subscription: &str) {
        let kept = |other: &Subscription| other.subscription_id != subscription;
        self.subscriptions.retain(kept);
    }

    /// Who the customer is, as far as is known.
    pub(super) fn user(&self) -> Option<&str> {
        self.customer.user_id.as_deref()
    }

    /// Writes down what follows. Nothing, when nothing changed.
    pub(super) fn settle(mut self, changes: &mut Changes) {
        self.tell(changes);
        let changed = self.customer != self.before || !self.changed.is_empty();
        if !changed && !self.touched {
            return;
        }
        self.customer.version = self.before.version + 1;
        self.customer.entitlement = self.entitlement();
        self.owe(changes);
        let view = |customer: &Customer| {
            let user = (customer.user_id.clone(), customer.link_conflict);
            (user, customer.entitlement.clone())
        };
        let shows = |customer: &Customer| customer.entitlement != Entitlement::default();
        let told = shows(&self.customer) || shows(&self.before);
        if told && view(&self.customer) != view(&self.before) {
            let effect = effects::entitlement_changed(&self.event.book, &self.customer);
            changes.effects.push(effect);
        }
        if self.before.user_id.is_none() && self.customer.user_id.is_some() {
            let link = link_of(&self.event.book, &self.customer.customer_id);
            changes.arrived.push(link);
        }
        for mut subscription in self.subscriptions {
            if self.changed.contains(&subscription.id) {
                subscription.version += 1;
                changes.subscriptions.push(subscription);
            }
        }
        changes.customers.push(self.customer);
    }

    /// Messages go out with the user in them, or wait for one.
    fn tell(&mut self, changes: &mut Changes) {
        let user = self.customer.user_id.clone();
        self.customer.owed.append(&mut self.messages);
        self.customer
            .owed
            .sort_by(|one, other| one.key.cmp(&other.key));
        let waiting = std::mem::take(&mut self.customer.owed);
        for owed in waiting {
            let full = self.customer.owed.len() >= MAX_OWED;
            match effects::owed(&owed, user.as_deref()) {
                Some(effect) if user.is_some() || full => changes.effects.push(effect),
                // Nobody to name yet, or a topic that only a newer version knows.
                Some(_) | None => self.customer.owed.push(owed),
            }
        }
    }

    fn entitlement(&self) -> Entitlement {
        let view = entitlement::of(self.subscriptions.iter(), &self.customer.schedules);
        Entitlement {
            entitled: view.entitled && !self.customer.deleted,
            ..view
        }
    }

    /// The one-off effects that are due and have not been caused yet.
    fn owe(&mut self, changes: &mut Changes) {
        let Some(user) = self.customer.user_id.as_deref() else {
            return;
        };
        for subscription in &mut self.subscriptions {
            if check::linked(subscription) {
                self.changed.insert(subscription.id.clone());
            }
            let welcome = subscription
                .began
                .then(|| effects::welcome(&self.event.book, user, subscription));
            let canceled = subscription
                .canceled
                .then(|| effects::subscription_canceled(&self.event.book, user, subscription));
            for effect in welcome.into_iter().chain(canceled) {
                if emit(effect, &mut subscription.emitted, changes) {
                    self.changed.insert(subscription.id.clone());
                }
            }
        }
    }
}

/// Sends a one-off effect unless its document remembers that it did. Answers whether it was
/// new.
pub(super) fn emit(effect: Effect, emitted: &mut Vec<String>, changes: &mut Changes) -> bool {
    if let Effect::Once { key, .. } = &effect {
        if emitted.contains(key) {
            return false;
        }
        emitted.push(key.clone());
        // The order in which effects fell due depends on the order of arrival.
        emitted.sort();
    }
    changes.effects.push(effect);
    true
}
