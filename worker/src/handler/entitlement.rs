//! What a customer may use: a view over all its subscriptions, computed and never written
//! by an event. A provisional subscription counts if any image of its newest second would,
//! so that ambiguity never takes access away; that one is over is never ambiguous.

use bson::DateTime;
use hookledger_shared::model::customer::{Entitlement, Schedule, ScheduleImage};
use hookledger_shared::model::subscription::{Subscription, SubscriptionImage};

use super::status::Standing;
use super::time;

/// The view over `subscriptions`, in whatever order they come, and what is planned for them.
pub(super) fn of<'a>(
    subscriptions: impl Iterator<Item = &'a Subscription> + Clone,
    schedules: &[Schedule],
) -> Entitlement {
    let best = subscriptions.clone().max_by_key(|subscription| {
        (
            gives_access(subscription),
            Standing::of(&subscription.status),
            subscription.current_period_end,
            &subscription.subscription_id,
        )
    });
    let Some(shown) = best else {
        return Entitlement::default();
    };
    let entitled = gives_access(shown);
    let planned = Planned::of(shown, schedules);
    Entitlement {
        entitled,
        status: Some(shown.status.clone()),
        plan: shown.plan.clone(),
        quantity: shown.quantity,
        until: shown.current_period_end,
        ends_at: ends_at(shown).or(planned.ends_at),
        changes_at: planned.changes_at,
        subscription_id: Some(shown.subscription_id.clone()),
        provisional: subscriptions
            .clone()
            .any(|other| other.provisional && (!other.terminal || !entitled)),
    }
}

/// Whether any version of a subscription's newest news gives access.
pub(super) fn gives_access(subscription: &Subscription) -> bool {
    let access = |image: &SubscriptionImage| Standing::of(&image.status).gives_access();
    !subscription.terminal
        && if subscription.provisional {
            let seen = &subscription.register.events;
            seen.iter().any(|seen| access(&seen.after))
        } else {
            Standing::of(&subscription.status).gives_access()
        }
}

/// What schedules will do to a subscription.
#[derive(Debug, Default)]
struct Planned {
    ends_at: Option<DateTime>,
    changes_at: Option<DateTime>,
}

impl Planned {
    /// By the schedule that is in force; Stripe lets a subscription have one at a time.
    fn of(subscription: &Subscription, schedules: &[Schedule]) -> Self {
        let id = Some(subscription.subscription_id.as_str());
        let in_force = schedules
            .iter()
            .filter(|schedule| !subscription.terminal && !schedule.register.terminal)
            .rfind(|schedule| schedule.current.subscription_id.as_deref() == id);
        let Some(ScheduleImage {
            cancels,
            phase_ends,
            last_phase_ends,
            status: _,
            subscription_id: _,
        }) = in_force.map(|schedule| &schedule.current)
        else {
            return Self::default();
        };
        let more_follows = *phase_ends < *last_phase_ends;
        Self {
            ends_at: last_phase_ends.filter(|_| *cancels).map(time),
            changes_at: phase_ends.filter(|_| more_follows).map(time),
        }
    }
}

/// When it ends, if that is decided: flexible billing sets `cancel_at` alone.
fn ends_at(subscription: &Subscription) -> Option<DateTime> {
    let with_period = subscription
        .cancel_at_period_end
        .then_some(subscription.current_period_end)
        .flatten();
    let planned = subscription.cancel_at.or(with_period);
    subscription.ended_at.or(planned)
}
