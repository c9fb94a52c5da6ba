//! One effect per cause, however often it is delivered.

use bson::doc;
use futures::future::join_all;
use hookledger_tests::{World, story};

#[tokio::test]
async fn the_same_delivery_again_and_again_makes_one_row_and_one_message() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    let event = story::credit_pack();
    for again in 0..5 {
        let answer = world.send(&ingest, &event.body).await.unwrap();
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.body.contains("duplicate"),
            again > 0,
            "{}",
            answer.body
        );
        world.until_drained().await.unwrap();
    }
    check_once(&world, &event.id).await;
    world.finish(&[&event.id]).await.unwrap();
}

#[tokio::test]
async fn fifty_copies_at_once_make_one_row_and_one_message() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    let event = story::credit_pack();
    let answers = join_all((0..50).map(|_| world.send(&ingest, &event.body))).await;
    let mut stored = 0;
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.status, 200);
        stored += usize::from(!answer.body.contains("duplicate"));
    }
    assert_eq!(stored, 1, "one of them was the first");
    world.until_drained().await.unwrap();
    check_once(&world, &event.id).await;
    world.finish(&[&event.id]).await.unwrap();
}

/// One ledger row, one grant, one outbox row an effect and sink, one delivery each.
async fn check_once(world: &World, id: &str) {
    assert_eq!(
        world.count("events", doc! { "eventId": id }).await.unwrap(),
        1
    );
    let account = world.rows("creditAccounts", doc! {}).await.unwrap();
    assert_eq!(account.len(), 1);
    assert_eq!(account[0].get_i64("balance").unwrap(), 100);
    let granted = doc! { "topic": "credits.granted" };
    assert_eq!(world.count("outbox", granted).await.unwrap(), 1);
    let counts = world.receiver.counts();
    assert!(!counts.is_empty());
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}
