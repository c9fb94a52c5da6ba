//! A polite stop finishes or gives back what is in hand.

use bson::doc;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, story};

#[tokio::test]
async fn a_stopped_worker_holds_nothing_and_another_goes_on() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let mut ids = Vec::new();
    for number in 0..60 {
        let id = format!("evt_{number}");
        let event = story::subscription(&id, &format!("c{number}"), "active", story::AT);
        world.deliver(&ingest, &event.body).await.unwrap();
        ids.push(id);
    }
    let first = world.worker("first").await.unwrap();
    let begun = doc! { "status": { "$ne": "received" } };
    hookledger_dev::mongo::wait::until("some work", PATIENCE, async || {
        Ok((world.count("events", begun.clone()).await? > 5).then_some(()))
    })
    .await
    .unwrap();
    assert!(first.stop(PATIENCE).await.unwrap().success());
    assert_eq!(
        world
            .count("events", doc! { "status": "processing" })
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        world
            .count("outbox", doc! { "status": "sending" })
            .await
            .unwrap(),
        0
    );
    assert_eq!(world.count("workers", doc! {}).await.unwrap(), 0);
    let _second = world.worker("second").await.unwrap();
    world.until_drained().await.unwrap();
    for row in world.rows("events", doc! {}).await.unwrap() {
        assert_eq!(
            (
                row.get_i32("attempts").unwrap(),
                row.get_i32("crashes").unwrap()
            ),
            (0, 0)
        );
    }
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    world.finish(&ids).await.unwrap();
}
