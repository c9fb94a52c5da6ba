//! Who a customer is: the links, in any order.

use serde_json::json;

use super::orders::one_end;
use super::story::{CUSTOMER, Event, completed, created, session, subscription};

#[test]
fn two_users_of_one_customer_are_flagged_and_the_checkout_is_believed() {
    let customer = json!({ "id": CUSTOMER, "metadata": { "user_id": "user_9" } });
    let theirs = json!({ "metadata": { "user_id": "user_8" } });
    let events = [
        Event::new("e1", "customer.updated", 90, customer),
        created("e2", 20, subscription("sub_1", theirs)),
        completed("e3", 10, session("cs_1", json!({}))),
        completed(
            "e4",
            12,
            session("cs_2", json!({ "client_reference_id": "user_2" })),
        ),
    ];
    let customer = &one_end("links", &events).customers["self:test:cus_1"];
    assert_eq!(customer.user_id.as_deref(), Some("user_2"));
    assert!(customer.link_conflict);
    assert_eq!(customer.links.len(), 4);
}

#[test]
fn a_stale_event_still_links() {
    let linked = json!({ "metadata": { "user_id": "user_1" } });
    let events = [
        created("e1", 10, subscription("sub_1", linked)),
        created(
            "e2",
            90,
            subscription("sub_1", json!({ "status": "past_due" })),
        ),
    ];
    let world = one_end("stale link", &events);
    let customer = &world.customers["self:test:cus_1"];
    assert_eq!(customer.user_id.as_deref(), Some("user_1"));
    assert!(world.once.iter().any(|key| key.ends_with("welcome:sub_1")));
}

#[test]
fn a_subscription_of_nobody_is_kept() {
    let events = [created(
        "e1",
        10,
        subscription("sub_1", json!({ "customer": null })),
    )];
    let world = one_end("no customer", &events);
    assert_eq!(world.subscriptions["self:test:sub_1"].status, "active");
    assert!(world.customers.is_empty());
}
