//! When the provider shall be asked for a subscription: whenever events alone can't tell, or
//! don't come. Pure; who asks is `crate::repair`.
//!
//! What is decided here depends on the order of arrival, as no other rule may: a gap is only
//! seen by who comes to it. So it decides nothing but when somebody looks.

use std::time::Duration;

use bson::DateTime;
use hookledger_shared::model::register::{Register, Seen};
use hookledger_shared::model::subscription::{Check, CheckReason, Subscription, SubscriptionImage};

use super::entitlement::gives_access;
use super::register;
use super::status::is_terminal;

/// Until the burst that a change makes is over.
const SOON: Duration = Duration::from_secs(3);
/// A checkout and its subscription arrive within seconds of each other, or something is
/// wrong.
const UNLINKED: Duration = Duration::from_secs(600);
/// Stripe makes a renewal's events within about an hour, and tries a failed delivery again
/// for days, mostly on the first.
const GRACE: Duration = Duration::from_secs(SECONDS_A_DAY);
const SECONDS_A_DAY: u64 = 86_400;
/// A period that stays over (a paused subscription's does) is looked at ever less often.
const MAX_DAYS: u64 = 30;

/// What an event shows beside its news.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs {
    /// It contradicts what was known.
    pub(super) suspicion: Option<CheckReason>,
    /// It is the provider's answer to a question of ours.
    pub(super) is_answer: bool,
    /// And nothing came while we asked, so it is the last word.
    pub(super) is_last_word: bool,
    /// The customer is a user of the product.
    pub(super) linked: bool,
}

/// What is odd about `news` beside what is `known`; nothing, when it is an old story.
pub(super) fn suspicion(
    known: Option<&Subscription>,
    news: &Register<SubscriptionImage>,
) -> Option<CheckReason> {
    let known = known?;
    let seen = news.events.first()?;
    if seen.covers.is_some() {
        return None;
    }
    let later = news.created > known.register.created;
    if known.terminal && !news.terminal {
        return later.then_some(CheckReason::Impossible);
    }
    if known.terminal || news.terminal || !later {
        return None;
    }
    let images = || known.register.events.iter().map(|known| &known.after);
    let answered = known.register.events.iter().any(is_answer);
    if answered && images().all(|image| *image != seen.after) {
        return Some(CheckReason::AfterAnswer);
    }
    let before = seen.before.as_ref()?;
    images()
        .all(|image| image != before)
        .then_some(CheckReason::ChainBreak)
}

fn is_answer(seen: &Seen<SubscriptionImage>) -> bool {
    seen.covers.is_some()
}

/// When to ask for a subscription that an event has just changed, or that it contradicts.
pub(super) fn next(subscription: &Subscription, signs: Signs, now: DateTime) -> Option<Check> {
    let was = subscription.next_check.as_ref();
    if subscription.provisional {
        return Some(asked(CheckReason::Provisional, later(now, SOON)));
    }
    let stays = |reason| {
        // Its end settles every doubt but the one about the end.
        let settled = subscription.terminal && reason != CheckReason::Impossible;
        is_doubt(reason) && !signs.is_last_word && !settled
    };
    let doubt = was.filter(|check| stays(check.reason));
    match (doubt, signs.suspicion) {
        // The answer came too late to count: ask again, at once.
        (Some(doubt), _) if signs.is_answer => {
            return Some(asked(doubt.reason, later(now, SOON)));
        }
        (Some(doubt), _) => return Some(doubt.clone()),
        (None, Some(reason)) => return Some(asked(reason, later(now, SOON))),
        (None, None) => {}
    }
    if !signs.linked && !signs.is_answer && gives_access(subscription) {
        let waits = was.filter(|check| check.reason == CheckReason::Unlinked);
        let first = || asked(CheckReason::Unlinked, later(now, UNLINKED));
        return Some(waits.cloned().unwrap_or_else(first));
    }
    let least = if signs.is_last_word { GRACE } else { SOON };
    period_over(subscription, later(now, least))
}

/// Takes back the question who the customer is, which something else has answered. Answers
/// whether there was one.
pub(super) fn linked(subscription: &mut Subscription) -> bool {
    let check = subscription.next_check.as_ref();
    let waited = check.is_some_and(|check| check.reason == CheckReason::Unlinked);
    if waited {
        subscription.next_check = period_over(subscription, DateTime::MIN);
    }
    waited
}

/// When to ask again after the provider has said nothing that was not known.
pub(crate) fn confirmed(subscription: &Subscription, now: DateTime) -> Option<Check> {
    let was = subscription.next_check.as_ref();
    let again = was.filter(|check| check.reason == CheckReason::PeriodOver);
    let tries = again.map_or(0, |check| check.tries);
    let days = 1_u64
        .checked_shl(tries.saturating_sub(1))
        .unwrap_or(MAX_DAYS);
    let wait = Duration::from_secs(days.min(MAX_DAYS) * SECONDS_A_DAY);
    let check = period_over(subscription, later(now, wait))?;
    Some(Check { tries, ..check })
}

/// Whether it shows this, for certain or not.
pub(crate) fn shows(subscription: &Subscription, image: &SubscriptionImage) -> bool {
    register::view(&subscription.register).is_some_and(|view| view.image == image)
}

/// Whether it is over for good.
pub(crate) fn ends(image: &SubscriptionImage) -> bool {
    is_terminal(&image.status)
}

/// The end of its period and a day, but not before `least`. Never once it is over.
fn period_over(subscription: &Subscription, least: DateTime) -> Option<Check> {
    let end = subscription
        .current_period_end
        .filter(|_| !subscription.terminal)?;
    let due = later(end, GRACE).max(least);
    Some(asked(CheckReason::PeriodOver, due))
}

/// Whether the state itself is in doubt, until the provider has said what it is.
fn is_doubt(reason: CheckReason) -> bool {
    match reason {
        CheckReason::ChainBreak
        | CheckReason::Impossible
        | CheckReason::AfterAnswer
        | CheckReason::Other => true,
        CheckReason::Provisional | CheckReason::Unlinked | CheckReason::PeriodOver => false,
    }
}

fn asked(reason: CheckReason, due_at: DateTime) -> Check {
    Check {
        reason,
        due_at,
        tries: 0,
        problem: None,
    }
}

/// So much later.
pub(crate) fn later(at: DateTime, by: Duration) -> DateTime {
    let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    DateTime::from_millis(at.timestamp_millis().saturating_add(by))
}
