//! Many processors on one customer: they conflict on purpose, and that costs nobody an
//! attempt.

use std::time::Duration;

use bson::doc;
use futures::{StreamExt, stream};
use hookledger_dev::stack::metrics;
use hookledger_tests::{World, WorldOptions, story};
use serde_json::json;

const SUBSCRIPTIONS: i64 = 32;
const NEWS_OF_EACH: i64 = 4;

/// Events of the one customer: each of another subscription, or of another second of it.
fn events() -> Vec<hookledger_dev::stripe::event::Event> {
    let all = (0..NEWS_OF_EACH).flat_map(|news| (0..SUBSCRIPTIONS).map(move |sub| (news, sub)));
    let event = |(news, subscription): (i64, i64)| {
        let status = if (news + subscription) % 2 == 0 {
            "active"
        } else {
            "past_due"
        };
        let fields = json!({
            "id": format!("sub_{subscription}"), "customer": "cus_hot", "status": status,
            "metadata": { "user_id": "user_hot", "plan": "pro" },
        });
        let id = format!("evt_{news}_{subscription}");
        let kind = "customer.subscription.updated";
        story::event(kind, &id, story::AT + news, fields)
    };
    all.map(event).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_processors_on_one_customer_lose_no_event_and_no_attempt() {
    let options = WorldOptions {
        concurrency: 8,
        lease: Duration::from_secs(30),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let events = events();
    let sent = stream::iter(&events).map(|event| world.deliver(&ingest, &event.body));
    let sent: Vec<_> = sent.buffer_unordered(16).collect().await;
    sent.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    let workers = [
        world.worker("one").await.unwrap(),
        world.worker("other").await.unwrap(),
    ];
    world.until_drained().await.unwrap();
    let all = SUBSCRIPTIONS * NEWS_OF_EACH;
    let done = doc! { "status": "processed", "attempts": 0, "crashes": 0 };
    let done = world.count("events", done).await.unwrap();
    assert_eq!(done, all.unsigned_abs());
    let mut conflicts = 0;
    for worker in &workers {
        conflicts += metrics::conflicts(worker).await.unwrap();
    }
    assert!(conflicts > 0, "they never met");
    let subscriptions = world.rows("subscriptions", doc! {}).await.unwrap();
    assert_eq!(subscriptions.len(), SUBSCRIPTIONS as usize);
    for row in subscriptions {
        let newest = story::AT + NEWS_OF_EACH - 1;
        assert_eq!(row.get_i64("lastEventCreated").unwrap(), newest);
    }
    let ids: Vec<_> = events.iter().map(|event| event.id.as_str()).collect();
    world.finish(&ids).await.unwrap();
}
