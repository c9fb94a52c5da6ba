//! Load, decide and apply on a real replica set: in any order, by several at once, the end
//! is the one that the pure fold over the same events comes to.

mod bed;
mod interleaved;

use bson::{Document, doc};
use fastrand::Rng;
use hookledger_shared::model::customer::Customer;
use serde_json::json;

use crate::handler::tests::story::{
    Event, completed, created, deleted, session, subscription, updated,
};
use crate::handler::tests::world::World;

const ROUNDS: usize = 12;
const WORKERS: usize = 8;

/// A subscription with a tie, another that ends, two purchases (one of them announced
/// twice, one of them wrong), and a link that comes last: all of one customer.
fn story(account: &str) -> Vec<Event> {
    let sale = |purchase: &str, amount: i64| {
        session(
            &format!("cs_{purchase}"),
            json!({
                "mode": "payment", "payment_intent": format!("pi_{purchase}"),
                "amount_subtotal": amount, "client_reference_id": null,
                "metadata": { "sku": "pack_100", "purchase_id": purchase },
            }),
        )
    };
    let events = [
        created(
            "e1",
            10,
            subscription("sub_1", json!({ "status": "incomplete" })),
        ),
        updated(
            "e2",
            10,
            subscription("sub_1", json!({})),
            json!({ "status": "incomplete" }),
        ),
        created("e3", 10, subscription("sub_2", json!({}))),
        deleted("e4", 30, subscription("sub_2", json!({}))),
        completed("e5", 11, sale("p1", 1_900)),
        Event::new(
            "e6",
            "checkout.session.async_payment_succeeded",
            12,
            sale("p1", 1_900),
        ),
        completed("e7", 11, sale("p2", 1)),
        completed(
            "e8",
            11,
            session("cs_1", json!({ "subscription": "sub_1" })),
        ),
    ];
    events
        .map(|event| event.with("account", json!(account)))
        .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_workers_in_any_order_come_to_the_end_of_the_pure_fold() {
    let stores = bed::stores().await;
    let mut pure = World::default();
    for round in 0..ROUNDS {
        let events = story(&format!("acct_{round}"));
        let mut deliveries: Vec<&Event> = events.iter().chain(&events).collect();
        Rng::with_seed(round as u64).shuffle(&mut deliveries);
        bed::deliver(&stores, &deliveries, WORKERS).await;
        pure.take(&events);
    }
    assert_eq!(bed::world(&stores).await.end(), pure.end());
    let accounts = bed::all::<Document>(&stores, "creditAccounts").await;
    assert_eq!(accounts.len(), ROUNDS);
    for account in accounts {
        assert_eq!(account.get_i64("balance").unwrap(), 100);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_a_newer_version_survive_and_versions_grow() {
    let stores = bed::stores().await;
    let event = created("e1", 10, subscription("sub_1", json!({})));
    bed::deliver(&stores, &[&event], 1).await;
    let customers = stores.database().collection::<Document>("customers");
    let newer = doc! { "$set": { "newerField": { "a": 1 } } };
    customers.update_many(doc! {}, newer).await.unwrap();
    let event = deleted("e2", 20, subscription("sub_1", json!({})));
    bed::deliver(&stores, &[&event], 1).await;
    let raw = customers.find_one(doc! {}).await.unwrap().unwrap();
    assert_eq!(raw.get_document("newerField").unwrap(), &doc! { "a": 1 });
    let customer: Customer = bson::deserialize_from_document(raw).unwrap();
    assert_eq!(customer.version, 2);
    assert!(!customer.entitlement.entitled);
    assert_eq!(customer.entitlement.status.as_deref(), Some("canceled"));
}
