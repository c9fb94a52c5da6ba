//! Which user a customer is: a set of statements, of which one is shown.

use std::collections::BTreeSet;

use hookledger_shared::model::customer::{Customer, Link};

/// Adds a statement. Of those that say the same of the same place the newest stays, so the
/// set is bounded and doesn't depend on the order in which it came about.
pub(super) fn add(customer: &mut Customer, link: Link) {
    let same = |other: &&mut Link| other.user_id == link.user_id && other.via == link.via;
    match customer.links.iter_mut().find(same) {
        Some(known) if age(known) >= age(&link) => return,
        Some(known) => *known = link,
        None => customer.links.push(link),
    }
    customer
        .links
        .sort_by(|one, other| (one.via, &one.user_id).cmp(&(other.via, &other.user_id)));
    let shown = customer
        .links
        .iter()
        .max_by_key(|link| (link.via, age(link)));
    customer.user_id = shown.map(|link| link.user_id.clone());
    let users: BTreeSet<&str> = customer
        .links
        .iter()
        .map(|link| link.user_id.as_str())
        .collect();
    customer.link_conflict = users.len() > 1;
}

fn age(link: &Link) -> (i64, &str) {
    (link.created, &link.event_id)
}

#[cfg(test)]
mod tests {
    use hookledger_shared::model::book::Book;
    use hookledger_shared::model::customer::Via;

    use super::*;

    #[test]
    fn a_checkout_is_trusted_before_metadata_and_two_users_are_a_conflict() {
        let link = |user: &str, via, created| Link {
            user_id: user.to_owned(),
            via,
            created,
            event_id: format!("evt_{created}"),
        };
        let links = [
            link("a", Via::Checkout, 10),
            link("a", Via::Checkout, 12),
            link("b", Via::Customer, 30),
            link("b", Via::Subscription, 20),
        ];
        let mut ends = Vec::new();
        for first in 0..links.len() {
            let mut customer = Customer::unknown(&Book::new(None, false), "cus");
            for link in links.iter().cycle().skip(first).take(links.len()) {
                add(&mut customer, link.clone());
            }
            ends.push(customer);
        }
        assert!(ends.iter().all(|end| *end == ends[0]));
        assert_eq!(ends[0].user_id.as_deref(), Some("a"));
        assert!(ends[0].link_conflict);
        assert_eq!(ends[0].links.len(), 3);
    }
}
