//! `refund.*` and `charge.dispute.*`: money that goes back, and the credits with it.

use super::super::Case;
use super::super::credits;
use super::super::decision::{Changes, Decision};
use super::Paying;
use crate::stripe::reversal::ReversalRead;

pub(in super::super) fn refund(case: &Case<'_>, read: &ReversalRead) -> Decision {
    let mut paying = Paying::new(case, &read.payment_id);
    let rank = if case.event.kind == "refund.created" {
        0
    } else {
        5
    };
    let stale = paying.refund(read, rank);
    settled(case, paying, stale)
}

pub(in super::super) fn dispute(case: &Case<'_>, read: &ReversalRead) -> Decision {
    let mut paying = Paying::new(case, &read.payment_id);
    let stale = paying.dispute(read);
    settled(case, paying, stale)
}

fn settled(case: &Case<'_>, paying: Paying<'_>, stale: bool) -> Decision {
    let mut changes = Changes::default();
    credits::settle(case, paying.finish(), &mut changes);
    if stale || changes.is_empty() {
        Decision::Stale(changes)
    } else {
        Decision::Apply(changes)
    }
}
