//! `lag`.

use std::time::Duration;

use bson::{DateTime, Document, doc};
use serde_json::Value;

use crate::bed::Bed;
use crate::letters::{KEY, event};

const MINUTE: Duration = Duration::from_secs(60);

async fn lag(bed: &Bed) -> Value {
    bed.run(&["lag", "--json"]).await.json()
}

/// That a wait is what it was made to be, on however slow a machine.
fn is_about(waited: &Value, made: Duration) {
    let (waited, made) = (waited.as_f64().unwrap(), made.as_secs_f64());
    assert!((made..made + 120.0).contains(&waited), "{waited}");
}

/// Sets when messages to `destination` are due, from now.
async fn due(bed: &Bed, destination: &str, in_ms: i64) {
    let outbox = bed.stores.database().collection::<Document>("outbox");
    let now = bed.stores.server_time().await.unwrap().timestamp_millis();
    let due = doc! { "$set": { "dueAt": DateTime::from_millis(now + in_ms) } };
    let set = outbox.update_many(doc! { "destination": destination }, due);
    assert_eq!(set.await.unwrap().matched_count, 1);
}

#[tokio::test]
async fn lag_is_the_wait_of_the_first_that_is_due_and_zero_when_nothing_is() {
    let bed = Bed::new().await;
    let idle = lag(&bed).await;
    assert_eq!(idle["events"]["lagSeconds"], 0.0);
    assert_eq!(idle["messages"]["destinations"][1]["destination"], "crm");
    assert_eq!(idle["messages"]["destinations"][1]["lagSeconds"], 0.0);

    bed.dead_event("evt_dead", "default", "fault").await;
    bed.insert(&[
        event("evt_new", "default", "a", MINUTE),
        event("evt_old", "default", "a", MINUTE * 10),
    ])
    .await;
    bed.message(KEY, "app").await;
    bed.message(KEY, "crm").await;
    due(&bed, "app", -1_800_000).await;
    due(&bed, "crm", 3_600_000).await;
    bed.dead_message("self:test:other", "crm", "refused").await;

    let behind = lag(&bed).await;
    is_about(&behind["events"]["lagSeconds"], MINUTE * 10);
    assert_eq!(behind["events"]["received"], 2);
    assert_eq!(behind["events"]["processing"], 0);
    assert_eq!(behind["events"]["dead"], 1);
    let to = &behind["messages"]["destinations"];
    is_about(&to[0]["lagSeconds"], MINUTE * 30);
    assert_eq!(to[1]["lagSeconds"], 0.0, "what is not due waits for nobody");
    assert_eq!(behind["messages"]["pending"], 2);
    assert_eq!(behind["messages"]["dead"], 1);
    let words = ["2 received, 0 processing, 1 dead", "to app", "to crm"];
    bed.run(&["lag"]).await.says(0, &words);
}

#[tokio::test]
async fn a_count_stops_at_ten_thousand() {
    let bed = Bed::new().await;
    let events = (0..10_100).map(|n| event(&format!("evt_{n}"), "default", "a", MINUTE));
    bed.insert(&events.collect::<Vec<_>>()).await;
    let behind = lag(&bed).await;
    assert_eq!(behind["events"]["received"], "10000+");
    bed.run(&["lag"]).await.says(0, &["10000+ received"]);
}
