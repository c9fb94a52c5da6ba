//! What may happen to a subscription, from its creation to its end.

use super::state::{Identity, State};
use super::teller::Teller;
use super::truth::{SubscriptionTruth, Truth};

pub(super) const MONTH: i64 = 30 * 86_400;
const UPDATED: &str = "customer.subscription.updated";

/// One subscription while it lives.
#[derive(Clone, Debug)]
pub(super) struct Subscription {
    pub(super) identity: Identity,
    state: State,
}

impl Subscription {
    /// It comes to be: paid at once, on trial, or not paid yet.
    pub(super) fn begin(
        teller: &mut Teller<'_>,
        identity: Identity,
        status: &'static str,
        truth: &mut Truth,
    ) -> Self {
        let now = teller.now;
        let state = State {
            status,
            plan: "basic",
            quantity: 1,
            period: (now, now + MONTH),
            cancel_at_period_end: false,
            cancel_at: None,
            canceled_at: None,
            ended_at: None,
            trial_end: (status == "trialing").then_some(now + 7 * 86_400),
            collection_paused: false,
            card: 0,
        };
        let created = state.render(&identity);
        teller.tell("customer.subscription.created", &created);
        let begun = Self { identity, state };
        begun.note(truth);
        begun
    }

    pub(super) fn is_over(&self) -> bool {
        ["canceled", "incomplete_expired"].contains(&self.state.status)
    }

    /// Something happens, as its status allows.
    pub(super) fn step(&mut self, teller: &mut Teller<'_>, truth: &mut Truth) {
        let what = teller.random.u8(0..10);
        match (self.state.status, what) {
            ("incomplete", 0..=7) => self.change(teller, |state, _| state.status = "active"),
            ("incomplete", _) => {
                self.change(teller, |state, _| state.status = "incomplete_expired")
            }
            ("trialing", 0..2) => self.notice(teller, "customer.subscription.trial_will_end"),
            ("trialing", 2..5) => self.change(teller, |state, _| {
                state.status = "active";
                state.period = (state.period.1, state.period.1 + MONTH);
            }),
            ("trialing", 5) => self.turn(teller, "paused", "customer.subscription.paused"),
            ("paused", 0..6) => self.turn(teller, "active", "customer.subscription.resumed"),
            ("active", 0) => self.change(teller, |state, _| {
                state.period = (state.period.1, state.period.1 + MONTH);
            }),
            ("active", 1) => self.change(teller, |state, _| {
                state.status = "past_due";
                state.period = (state.period.1, state.period.1 + MONTH);
            }),
            ("active", 2) => self.change(teller, |state, _| state.status = "past_due"),
            ("past_due" | "unpaid", 0..4) => {
                self.change(teller, |state, _| state.status = "active")
            }
            ("past_due", 4..6) => self.change(teller, |state, _| state.status = "unpaid"),
            ("past_due" | "unpaid", 6) | (_, 9) if !self.is_over() => self.end(teller, truth),
            ("canceled", 0..3) => self.change(teller, |state, _| state.plan = "archived"),
            ("canceled" | "incomplete_expired", _) => {}
            (_, _) => self.edit(teller),
        }
        self.note(truth);
    }

    /// Somebody changes it. Now and then it is changed back in the same second, or several
    /// things are changed one by one.
    fn edit(&mut self, teller: &mut Teller<'_>) {
        match teller.random.u8(0..12) {
            0..2 => self.change(teller, |state, plans| state.plan = plans),
            2 => self.change(teller, |state, _| state.quantity += 1),
            3..5 => {
                let now = teller.now;
                self.change(teller, |state, _| state.flip_cancellation(now));
            }
            5 => {
                let now = teller.now;
                for _ in 0..teller.random.usize(2..4) {
                    self.change(teller, |state, _| state.flip_cancellation(now));
                }
            }
            6 => self.change(teller, |state, _| {
                state.cancel_at = match state.cancel_at {
                    Some(_) => None,
                    None => Some(state.period.1 + 500),
                };
            }),
            7 => self.change(teller, |state, _| state.card += 1),
            8 => self.change(teller, |state, _| {
                state.collection_paused = !state.collection_paused;
            }),
            9 => {
                let before = self.state.plan;
                self.change(teller, |state, plans| state.plan = plans);
                self.change(teller, |state, _| state.plan = before);
            }
            10 => self.notice(teller, "customer.subscription.pending_update_expired"),
            _ => {
                self.change(teller, |state, plans| state.plan = plans);
                self.notice(teller, "customer.subscription.pending_update_applied");
            }
        }
    }

    /// It ends now; often after a change in the same second.
    pub(super) fn end(&mut self, teller: &mut Teller<'_>, truth: &mut Truth) {
        if teller.chance(40) {
            self.edit(teller);
        }
        self.delete(teller, truth);
    }

    /// It is deleted, and nothing else.
    pub(super) fn delete(&mut self, teller: &mut Teller<'_>, truth: &mut Truth) {
        let now = teller.now;
        self.state.status = "canceled";
        self.state.canceled_at = self.state.canceled_at.or(Some(now));
        self.state.ended_at = Some(now);
        let object = self.state.render(&self.identity);
        teller.tell("customer.subscription.deleted", &object);
        truth.told.insert(format!("canceled:{}", self.identity.id));
        self.note(truth);
    }

    /// A change, told with what it changed. Stripe tells nothing when nothing changed.
    pub(super) fn change(
        &mut self,
        teller: &mut Teller<'_>,
        change: impl FnOnce(&mut State, &'static str),
    ) {
        let before = self.state.clone();
        let plan = ["basic", "pro", "team"][teller.random.usize(0..3)];
        change(&mut self.state, plan);
        if before != self.state {
            let (before, after) = (
                before.render(&self.identity),
                self.state.render(&self.identity),
            );
            teller.tell_change(UPDATED, &before, &after);
        }
    }

    /// A change of status that has a type of its own beside the update.
    fn turn(&mut self, teller: &mut Teller<'_>, status: &'static str, kind: &str) {
        self.change(teller, |state, _| state.status = status);
        self.notice(teller, kind);
    }

    /// Something is told of it that says nothing new.
    pub(super) fn notice(&self, teller: &mut Teller<'_>, kind: &str) {
        teller.tell(kind, &self.state.render(&self.identity));
    }

    /// Writes down how it is.
    pub(super) fn note(&self, truth: &mut Truth) {
        let state = &self.state;
        if ["active", "trialing"].contains(&state.status) {
            truth.told.insert(format!("welcome:{}", self.identity.id));
        }
        let so = SubscriptionTruth {
            status: state.status.to_owned(),
            plan: state.plan.to_owned(),
            quantity: state.quantity,
            period: state.period,
            cancel_at_period_end: state.cancel_at_period_end,
            cancel_at: state.cancel_at,
            canceled_at: state.canceled_at,
            ended_at: state.ended_at,
            trial_end: state.trial_end,
            collection_paused: state.collection_paused,
        };
        truth.subscriptions.insert(self.identity.id.clone(), so);
    }
}

impl State {
    /// The customer cancels at the period's end, or takes that back.
    pub(super) fn flip_cancellation(&mut self, now: i64) {
        self.cancel_at_period_end = !self.cancel_at_period_end;
        self.cancel_at = self.cancel_at_period_end.then_some(self.period.1);
        self.canceled_at = self.cancel_at_period_end.then_some(now);
    }
}
