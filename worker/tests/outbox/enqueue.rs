//! Writing into the outbox: what makes a row, what renews one, what leaves it alone.

use std::sync::Arc;

use bson::doc;
use tokio::sync::Notify;

use crate::receiver::{Receiver, Reply};
use crate::world::{KEY, Message, World, once};

#[tokio::test]
async fn a_one_off_effect_is_one_row_a_destination_however_often_it_is_written() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    for note in ["first", "second"] {
        for destination in ["app", "crm"] {
            let message = once(destination, doc! { "note": note });
            world.write(Message::Once(message)).await;
        }
    }
    let rows = world.stores.outbox.by_key(KEY).await.unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let payload = row.get_document("payload").unwrap();
        assert_eq!(payload, &doc! { "note": "first" });
        assert_eq!(row.get_str("status").unwrap(), "pending");
    }
}

#[tokio::test]
async fn a_one_off_effect_that_was_sent_is_not_sent_again() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    world.deliver().await;
    let sent = world.row().await;
    world.once(doc! {}).await;
    assert_eq!(world.row().await, sent);
}

#[tokio::test]
async fn steady_change_cannot_put_a_state_off() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.state(1).await;
    let due = *world.row().await.get_datetime("dueAt").unwrap();
    for version in 2..=4 {
        world.state(version).await;
    }
    let row = world.row().await;
    assert_eq!(*row.get_datetime("dueAt").unwrap(), due);
    assert_eq!(row.get_i64("version").unwrap(), 4);
    // The newest view is the whole view: nothing of an older one stays.
    assert_eq!(
        row.get_document("payload").unwrap(),
        &doc! { "only4": 4_i64 }
    );
    world.all_due().await;
    world.deliver().await;
    assert_eq!(receiver.only_request().json()["version"], 4);
}

#[tokio::test]
async fn a_state_that_was_sent_waits_for_its_burst_before_it_is_sent_again() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.state(1).await;
    world.all_due().await;
    world.deliver().await;
    let sent = world.row().await;
    assert_eq!(sent.get_str("status").unwrap(), "sent");
    world.state(2).await;
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "pending");
    let due_in = world.due_in().await;
    assert!((1..=2_000).contains(&due_in), "due in {due_in} ms");
    for field in ["sentAt", "expireAt", "deadAt", "lease"] {
        assert!(!row.contains_key(field), "{field} stayed");
    }
    let written = |row: &bson::Document| *row.get_datetime("createdAt").unwrap();
    assert!(written(&row) > written(&sent));
}

#[tokio::test]
async fn a_state_that_changed_while_it_was_sent_is_sent_again() {
    let gate = Arc::new(Notify::new());
    let receiver = Receiver::start([Reply::Held(gate.clone()), Reply::status(200)]).await;
    let world = World::over(&receiver).await;
    world.state(1).await;
    world.all_due().await;
    let change = async {
        receiver.has_seen(1).await;
        world.state(2).await;
        let row = world.row().await;
        assert_eq!(row.get_str("status").unwrap(), "sending");
        assert!(!row.contains_key("dueAt"));
        gate.notify_one();
    };
    tokio::join!(world.deliver(), change);
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "pending");
    assert_eq!(row.get_i64("version").unwrap(), 2);
    assert!(!row.contains_key("sentAt") && !row.contains_key("expireAt"));
    let due_in = world.due_in().await;
    assert!((1..=2_000).contains(&due_in), "due in {due_in} ms");
    world.all_due().await;
    world.deliver().await;
    assert_eq!(world.status().await, "sent");
    let versions: Vec<_> = receiver
        .requests()
        .iter()
        .map(|request| request.json()["version"].as_i64().unwrap())
        .collect();
    assert_eq!(versions, [1, 2]);
}
