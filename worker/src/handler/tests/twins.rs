//! What looks the same and is not, and what looks different and is the same.

use serde_json::{Value, json};

use super::orders::one_end;
use super::story::{Event, completed, created, items, session, subscription, updated};

#[test]
fn a_test_twin_and_another_account_have_books_of_their_own() {
    let canceled = || subscription("sub_1", json!({ "status": "canceled" }));
    let events = [
        completed("e1", 10, session("cs_1", json!({}))),
        created("e2", 10, subscription("sub_1", json!({}))),
        created("e3", 99, canceled()).with("livemode", json!(true)),
        created("e4", 99, canceled()).with("account", json!("acct_1")),
    ];
    let world = one_end("twins", &events);
    let entitled = |key: &str| world.customers[key].entitlement.entitled;
    assert!(entitled("self:test:cus_1"));
    assert!(!entitled("self:live:cus_1") && !entitled("acct_1:test:cus_1"));
    assert!(world.once.iter().all(|key| key.starts_with("self:test:")));
}

/// The same change of the same second, as an old version and as a new one renders it.
fn renderings() -> [Event; 2] {
    let new = updated(
        "e2",
        10,
        subscription("sub_1", json!({ "items": items(2_000) })),
        json!({ "items": items(1_000) }),
    );
    let mut item = items(0)["data"][0].clone();
    let item = item.as_object_mut().unwrap();
    item.remove("current_period_start");
    item.remove("current_period_end");
    let old = subscription(
        "sub_1",
        json!({
            "items": { "object": "list", "data": [item] }, "quantity": 1,
            "plan": { "id": "price_1" },
            "current_period_start": 0, "current_period_end": 2_000,
        }),
    );
    let old = updated("e2", 10, old, json!({ "current_period_end": 1_000 }));
    [old, new]
}

#[test]
fn one_event_in_two_api_versions_is_one_event_whichever_comes_first() {
    let [old, new] = renderings();
    let before = || {
        [
            completed("e0", 5, session("cs_1", json!({}))),
            created("e1", 10, subscription("sub_1", json!({}))),
        ]
    };
    let both: Vec<Event> = before()
        .into_iter()
        .chain([old.clone(), new.clone()])
        .collect();
    let with_both = one_end("both renderings", &both);
    for one in [old, new] {
        let events: Vec<Event> = before().into_iter().chain([one]).collect();
        assert_eq!(one_end("one rendering", &events).end(), with_both.end());
    }
    let shown = &with_both.subscriptions["self:test:sub_1"];
    assert!(!shown.provisional);
    assert_eq!(
        shown.current_period_end.unwrap().timestamp_millis(),
        2_000_000
    );
}

#[test]
fn two_renderings_that_differ_still_come_to_one_end() {
    let lossy = |metadata: Value| subscription("sub_1", json!({ "metadata": metadata }));
    let events = [
        completed("e0", 5, session("cs_1", json!({}))),
        created("e1", 10, lossy(json!({ "plan": "pro" }))),
        created("e1", 10, lossy(json!({}))),
        updated(
            "e2",
            10,
            lossy(json!({ "plan": "team" })),
            json!({ "metadata": { "plan": "pro" } }),
        ),
    ];
    one_end("renderings that differ", &events);
}
