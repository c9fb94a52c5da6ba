//! What a customer may use: a view over all its subscriptions, computed and never written
//! by an event. A provisional subscription counts if any image of its newest second would,
//! so that ambiguity never takes access away; that one is over is never ambiguous.

use bson::DateTime;
use hookledger_shared::model::customer::Entitlement;
use hookledger_shared::model::subscription::{Subscription, SubscriptionImage};

use super::status::Standing;

/// The view over `subscriptions`, in whatever order they come.
pub(super) fn of<'a>(subscriptions: impl Iterator<Item = &'a Subscription> + Clone) -> Entitlement {
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
    Entitlement {
        entitled,
        status: Some(shown.status.clone()),
        plan: shown.plan.clone(),
        quantity: shown.quantity,
        until: shown.current_period_end,
        ends_at: ends_at(shown),
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

/// When it ends, if that is decided: flexible billing sets `cancel_at` alone.
fn ends_at(subscription: &Subscription) -> Option<DateTime> {
    let with_period = subscription
        .cancel_at_period_end
        .then_some(subscription.current_period_end)
        .flatten();
    let planned = subscription.cancel_at.or(with_period);
    subscription.ended_at.or(planned)
}
