//! `customer.subscription.*`: news of one subscription joins its register; the view, the
//! customer's entitlement and the effects follow. Also a link, when the product wrote its
//! user on the subscription.

use std::collections::BTreeSet;

use hookledger_shared::model::book::Book;
use hookledger_shared::model::customer::Via;
use hookledger_shared::model::register::{Register, Seen};
use hookledger_shared::model::subscription::{Subscription, SubscriptionImage};

use super::affected::{self, Affected};
use super::check::Signs;
use super::decision::{Changes, Decision};
use super::facts::{Facts, Need};
use super::status::{Standing, is_terminal};
use super::{About, Case, check, register, time};
use crate::stripe::subscription::SubscriptionRead;

/// Stripe's type for the end of a subscription.
const DELETED: &str = "customer.subscription.deleted";
/// A first payment that never came: it ended before it began.
const NEVER_BEGAN: &str = "incomplete_expired";

pub(super) fn needs(read: &SubscriptionRead, facts: &Facts) -> Vec<Need> {
    let mut needs = vec![Need::Subscription(read.id.clone())];
    let customers = customers(read, facts.subscription(&read.id));
    needs.extend(customers.into_iter().flat_map(affected::needs));
    needs
}

/// Every customer that any news names; Stripe never moves a subscription, so one.
fn customers<'a>(
    read: &'a SubscriptionRead,
    stored: Option<&'a Subscription>,
) -> BTreeSet<&'a str> {
    let seen = stored
        .into_iter()
        .flat_map(|stored| &stored.register.events);
    let images = seen.map(|seen| &seen.after).chain([&read.after]);
    images
        .filter_map(|image| image.customer_id.as_deref())
        .chain(stored.and_then(|stored| stored.customer_id.as_deref()))
        .collect()
}

pub(super) fn decide(case: &Case<'_>, read: &SubscriptionRead) -> Decision {
    let event = case.event;
    let stored = case.facts.subscription(&read.id);
    let news = news(event, read);
    let joined = match stored {
        Some(stored) => register::join(&stored.register, &news),
        None => news.clone(),
    };
    let stale = joined.terminal != news.terminal || joined.created != news.created;
    let signs = signs(case, read, &news, &joined);
    let Some(mut subscription) = document(event, read, stored, joined) else {
        // A register that was stored without events: nobody writes one.
        return Decision::Stale(Changes::default());
    };
    if stored != Some(&subscription) || signs.suspicion.is_some() {
        subscription.next_check = check::next(&subscription, signs, case.now);
    }
    let changed = stored != Some(&subscription);
    let mut changes = Changes::default();
    for customer in customers(read, stored) {
        let mut affected = Affected::new(case, customer);
        if read.after.customer_id.as_deref() == Some(customer) {
            affected.link(read.user_id.as_deref(), Via::Subscription);
        }
        if subscription.customer_id.as_deref() != Some(customer) {
            affected.take_away(&subscription.subscription_id);
            affected.touch();
        } else if changed {
            affected.put(subscription.clone());
        }
        affected.settle(&mut changes);
    }
    if changed && subscription.customer_id.is_none() {
        let version = subscription.version + 1;
        let subscription = Subscription {
            version,
            ..subscription
        };
        changes.subscriptions.push(subscription);
    }
    if stale || changes.is_empty() {
        Decision::Stale(changes)
    } else {
        Decision::Apply(changes)
    }
}

/// What the event shows beside its news.
fn signs(
    case: &Case<'_>,
    read: &SubscriptionRead,
    news: &Register<SubscriptionImage>,
    joined: &Register<SubscriptionImage>,
) -> Signs {
    let customer = read.after.customer_id.as_deref();
    let user = customer.and_then(|id| case.facts.customer(&case.event.book, id).user_id);
    Signs {
        suspicion: check::suspicion(case.facts.subscription(&read.id), news),
        is_answer: read.covers.is_some(),
        is_last_word: register::is_last_word(joined, &case.event.id),
        linked: user.is_some() || read.user_id.is_some(),
    }
}

/// The event alone, as a register.
fn news(event: &About, read: &SubscriptionRead) -> Register<SubscriptionImage> {
    let seen = Seen {
        covers: read.covers.clone(),
        ..event.seen(rank(&event.kind), &read.after, read.before.as_ref())
    };
    register::single(is_end(event, read), event.created, seen)
}

fn is_end(event: &About, read: &SubscriptionRead) -> bool {
    event.kind == DELETED || is_terminal(&read.after.status)
}

/// How late in a life a type stands. Notices say nothing new, so they yield to changes.
fn rank(kind: &str) -> i32 {
    match kind {
        "customer.subscription.created" => 0,
        "customer.subscription.trial_will_end" | "customer.subscription.pending_update_expired" => {
            1
        }
        DELETED => 9,
        _ => 5,
    }
}

fn document(
    event: &About,
    read: &SubscriptionRead,
    stored: Option<&Subscription>,
    register: Register<SubscriptionImage>,
) -> Option<Subscription> {
    let view = register::view(&register)?;
    let (image, provisional) = (view.image.clone(), view.provisional);
    let ended = is_end(event, read) && read.after.status != NEVER_BEGAN;
    let was = |flag: fn(&Subscription) -> bool| stored.is_some_and(flag);
    let Book { account, livemode } = event.book.clone();
    Some(Subscription {
        id: event.book.key(&read.id),
        account,
        livemode,
        subscription_id: read.id.clone(),
        customer_id: image.customer_id,
        status_unknown: Standing::of(&image.status) == Standing::Unknown,
        status: image.status,
        plan: image.plan,
        quantity: image.quantity,
        current_period_start: image.period_start.map(time),
        current_period_end: image.period_end.map(time),
        cancel_at_period_end: image.cancel_at_period_end,
        cancel_at: image.cancel_at.map(time),
        canceled_at: image.canceled_at.map(time),
        ended_at: image.ended_at.map(time),
        trial_end: image.trial_end.map(time),
        collection_paused: image.collection_paused,
        terminal: register.terminal,
        provisional,
        last_event_created: register.created,
        began: Standing::of(&read.after.status).begins() || was(|stored| stored.began),
        canceled: ended || was(|stored| stored.canceled),
        register,
        emitted: stored.map_or_else(Vec::new, |stored| stored.emitted.clone()),
        next_check: stored.and_then(|stored| stored.next_check.clone()),
        version: stored.map_or(0, |stored| stored.version),
    })
}
