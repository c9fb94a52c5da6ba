//! One customer's first minutes, as Stripe would tell them: a subscription bought through Checkout, then a
//! pack of credits.
//!
//! - `subscription`: thirteen events within two seconds.
//! - `credit_pack`: three events, one payment.
//!
//! Everything follows from a seed and a time, so that a run which went wrong can be repeated.

mod credit_pack;
mod subscription;
#[cfg(test)]
mod tests;

use fastrand::Rng;

use super::event::Event;
use super::ids::Ids;

/// The plan that is bought, as the product's metadata names it.
pub const PLAN: &str = "pro";

/// The credit pack that is bought, as the product's metadata names it.
pub const SKU: &str = "pack_100";

/// How many credits the pack holds.
pub const CREDITS: i64 = 100;

/// What the pack costs, in cents.
pub const PACK_AMOUNT: i64 = 1900;

/// In which currency.
pub const CURRENCY: &str = "usd";

/// The subscription is bought so many seconds before `now`, the credit pack half-way: nothing lies in the future.
const AGO: i64 = 60;

/// Who it is about, by every name they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actors {
    /// The product's own id of the user.
    pub user: String,
    /// Stripe's customer.
    pub customer: String,
    /// The subscription.
    pub subscription: String,
    /// The product's own id of the purchase of credits.
    pub purchase: String,
    /// The card, attached to the customer at the first payment.
    payment_method: String,
}

/// All that happened, in the order in which it did.
#[derive(Clone, Debug)]
pub struct History {
    /// Who it is about.
    pub actors: Actors,
    /// Until when the subscription is paid, in unix seconds.
    pub paid_until: i64,
    /// Each event once.
    pub events: Vec<Event>,
    seed: u64,
}

impl History {
    /// The history that ended at `now` (unix seconds). Another seed has other identifiers throughout.
    #[must_use]
    pub fn new(seed: u64, now: i64) -> Self {
        let mut ids = Ids::new(seed);
        let actors = Actors {
            user: ids.next("user"),
            customer: ids.next("cus"),
            subscription: ids.next("sub"),
            purchase: ids.next("purchase"),
            payment_method: ids.next("pm"),
        };
        let bought = now - AGO;
        let mut events = subscription::events(&mut ids, &actors, bought);
        events.extend(credit_pack::events(&mut ids, &actors, now - AGO / 2));
        Self {
            actors,
            paid_until: bought + subscription::PERIOD_S,
            events,
            seed,
        }
    }

    /// Every event twice, in an order that Stripe might choose: any.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Event> {
        let mut deliveries = self.events.clone();
        deliveries.extend_from_slice(&self.events);
        Rng::with_seed(self.seed).shuffle(&mut deliveries);
        deliveries
    }
}
