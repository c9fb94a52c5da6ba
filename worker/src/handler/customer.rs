//! `customer.*`: who a customer is, by its own metadata, and that it is gone.

use hookledger_shared::model::customer::Via;

use super::Case;
use super::affected::{self, Affected};
use super::decision::{Changes, Decision};
use super::facts::Need;
use crate::stripe::customer::CustomerRead;

pub(super) fn needs(read: &CustomerRead) -> Vec<Need> {
    affected::needs(&read.id).into()
}

/// A deletion is final, so older and later news can say nothing against it.
pub(super) fn decide(case: &Case<'_>, read: &CustomerRead) -> Decision {
    let mut affected = Affected::new(case, &read.id);
    affected.link(read.user_id.as_deref(), Via::Customer);
    if read.deleted {
        affected.deleted();
    }
    let mut changes = Changes::default();
    affected.settle(&mut changes);
    if changes.is_empty() {
        Decision::Stale(changes)
    } else {
        Decision::Apply(changes)
    }
}
