//! `subscription_schedule.*`: what is planned for a subscription. It changes nothing until
//! the subscription's own events say so; the customer's entitlement shows when that will be.

use super::Case;
use super::affected::Affected;
use super::decision::{Changes, Decision};
use crate::stripe::schedule::ScheduleRead;

pub(super) fn decide(case: &Case<'_>, read: &ScheduleRead) -> Decision {
    let status = read.after.status.as_deref();
    let over = matches!(status, Some("released" | "completed" | "canceled"))
        || case.event.kind == "subscription_schedule.aborted";
    let rank = if case.event.kind == "subscription_schedule.created" {
        0
    } else {
        5
    };
    let seen = case.event.seen(rank, &read.after, read.before.as_ref());
    let mut affected = Affected::new(case, &read.customer_id);
    let stale = affected.schedule(&read.id, over, seen);
    let mut changes = Changes::default();
    affected.settle(&mut changes);
    if stale || changes.is_empty() {
        Decision::Stale(changes)
    } else {
        Decision::Apply(changes)
    }
}
