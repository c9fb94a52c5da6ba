//! Rows that this version can't read: each is a dead letter, and none holds up another.

use std::time::Duration;

use bson::{DateTime, Document, doc};
use hookledger_shared::store::Stores;
use hookledger_shared::store::transaction::Slot;

use crate::bed::{self, LEASE, terms};

fn rows(stores: &Stores, name: &str) -> mongodb::Collection<Document> {
    stores.database().collection(name)
}

async fn status(stores: &Stores, name: &str, filter: Document) -> (String, String) {
    let row = rows(stores, name).find_one(filter).await.unwrap().unwrap();
    let error = row.get_document("lastError");
    let kind = error.map(|error| error.get_str("kind").unwrap().to_owned());
    (
        row.get_str("status").unwrap().to_owned(),
        kind.unwrap_or_default(),
    )
}

fn buried() -> (String, String) {
    ("dead".to_owned(), "unreadable_row".to_owned())
}

#[tokio::test]
async fn an_event_that_can_not_be_read_is_a_dead_letter_and_the_next_is_claimed() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["broken".to_owned()]).await;
    bed::insert(&stores, ["good".to_owned()]).await;
    let broken = doc! { "eventId": "broken" };
    let older = DateTime::from_millis(1_000);
    let damage = doc! { "$set": { "body": 5, "attempts": "many", "dueAt": older } };
    let events = rows(&stores, "events");
    events.update_one(broken.clone(), damage).await.unwrap();

    let mut slot = Slot::open(&stores).await.unwrap();
    let terms = terms("w", LEASE);
    let claim = stores.events.claim(&mut slot, &terms);
    assert_eq!(claim.await.unwrap().unwrap().event_id, "good");
    assert_eq!(status(&stores, "events", broken.clone()).await, buried());
    // It is seen where operators look, whatever is wrong with it.
    let dead = stores.events.dead(&Default::default(), 10).await.unwrap();
    assert_eq!(dead.len(), 1);
}

#[tokio::test]
async fn a_message_that_can_not_be_read_is_a_dead_letter_and_the_next_is_claimed() {
    let stores = bed::stores().await;
    let message = |key: &str, due: i64| {
        doc! {
            "key": key, "topic": "t", "destination": "app", "payload": {}, "status": "pending",
            "epoch": 0_i64, "attempts": 0, "crashes": 0, "createdAt": DateTime::from_millis(1_000),
            "dueAt": DateTime::from_millis(due),
            "causedBy": { "provider": "stripe", "scope": "default", "eventId": "e" },
        }
    };
    let mut broken = message("broken", 1_000);
    broken.insert("payload", "text");
    let outbox = rows(&stores, "outbox");
    let both = [broken, message("good", 2_000)];
    outbox.insert_many(both).await.unwrap();

    let terms = terms("w", LEASE);
    let claim = stores.outbox.claim("app", &terms);
    assert_eq!(claim.await.unwrap().unwrap().key, "good");
    let broken = doc! { "key": "broken" };
    assert_eq!(status(&stores, "outbox", broken).await, buried());
}

#[tokio::test]
async fn a_lease_that_can_not_be_read_holds_up_no_rescue() {
    let stores = bed::stores().await;
    let ids = ["broken", "good"].map(str::to_owned);
    bed::insert(&stores, ids).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let short = terms("w", Duration::from_millis(1));
    for _ in 0..2 {
        stores.events.claim(&mut slot, &short).await.unwrap();
    }
    let broken = doc! { "eventId": "broken" };
    let damage = doc! { "$unset": { "lease": "" } };
    let events = rows(&stores, "events");
    events.update_one(broken.clone(), damage).await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            let expired = stores.events.expired(10).await.unwrap();
            if expired.len() == 1 {
                return;
            }
        }
    })
    .await
    .unwrap();
    assert_eq!(status(&stores, "events", broken).await, buried());
}
