//! Credit entries by what they come to: which entries led there depends on the order in
//! which events came, their sum does not. Pure.

use std::collections::BTreeMap;

use bson::Document;

use crate::fold::Fold;

/// Credits by user, without those that come to nothing.
pub(super) type Sums = BTreeMap<String, i64>;

/// One entry more.
pub(super) fn add(sums: &mut Sums, user: String, credits: i64) {
    let sum = sums.entry(user).or_default();
    *sum = sum.saturating_add(credits);
}

/// The sums of some entries.
fn of<'a>(entries: impl IntoIterator<Item = (&'a str, i64)>) -> Sums {
    let mut sums = Sums::new();
    for (user, credits) in entries {
        add(&mut sums, user.to_owned(), credits);
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

/// User and credits of a stored entry; one that can't be read counts for nothing.
pub(super) fn entry(entry: &Document) -> Option<(&str, i64)> {
    let user = entry.get_str("userId").ok()?;
    let credits = entry.get_i64("credits").ok()?;
    Some((user, credits))
}

/// Of stored entries.
pub(super) fn live(entries: &[Document]) -> Sums {
    of(entries.iter().filter_map(entry))
}

/// Of the fold's entries of a purchase.
pub(super) fn folded(fold: &Fold, purchase: &str) -> Sums {
    let entries = fold.entries.of(purchase);
    of(entries.map(|entry| (entry.user_id.as_str(), entry.credits)))
}
