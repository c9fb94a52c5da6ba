//! A worker that was frozen past its lease can write nothing when it wakes up.

use std::time::Duration;

use bson::doc;
use hookledger_dev::mongo::wait;
use hookledger_dev::stack::Signal;
use hookledger_tests::receiver::Manner;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, story};

#[tokio::test]
async fn a_frozen_worker_whose_event_was_taken_back_can_not_commit_it() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.deliver(&ingest, &event.body).await.unwrap();
    let point = world.fail("zombie", "update", Some("purchases"));
    let point = point.block(Duration::from_millis(500)).times(1);
    let point = point.arm(&world.uri).await.unwrap();
    let zombie = world.worker("zombie").await.unwrap();
    point.wait_entered(1, PATIENCE).await.unwrap();
    zombie.signal(Signal::Stop).await.unwrap();
    point.off().await.unwrap();
    let _other = world.worker("other").await.unwrap();
    world.until_drained().await.unwrap();
    let (before, deliveries) = (world.end_state().await.unwrap(), world.receiver.counts());

    zombie.signal(Signal::Continue).await.unwrap();
    wait::until("the zombie to notice", PATIENCE, async || {
        let log = zombie.log();
        anyhow::ensure!(log.contains("lost lease"), "it logged:\n{log}");
        Ok(Some(()))
    })
    .await
    .unwrap();
    assert_eq!(world.end_state().await.unwrap(), before);
    assert_eq!(world.receiver.counts(), deliveries);
    let row = world.event(&event.id).await.unwrap();
    assert_eq!(
        row.get_i64("epoch").unwrap(),
        2,
        "the second claim is the one that counts"
    );
    world.finish(&[&event.id]).await.unwrap();
}

#[tokio::test]
async fn a_frozen_worker_whose_message_was_taken_back_can_not_finish_it() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::subscription("evt_zombie", "zombie", "active", story::AT);
    world.receiver.behave(Manner::Hold);
    let zombie = world.worker("zombie").await.unwrap();
    world.deliver(&ingest, &event.body).await.unwrap();
    let arrived = wait::until("a delivery", PATIENCE, async || {
        Ok(world.receiver.deliveries().into_iter().next())
    });
    let arrived = arrived.await.unwrap();
    zombie.signal(Signal::Stop).await.unwrap();
    // State messages carry their version behind the key.
    let key = doc! { "$in": [arrived.id(), arrived.id().trim_end_matches(":1")] };
    let held = world
        .rows("outbox", doc! { "key": key })
        .await
        .unwrap()
        .remove(0);
    assert_eq!(held.get_i64("epoch").unwrap(), 1);
    let id = held.get_object_id("_id").unwrap();
    let _other = world.worker("other").await.unwrap();
    let taken = doc! { "_id": id, "epoch": { "$gte": 2_i64 } };
    world.until_count("outbox", taken, 1).await.unwrap();

    // The zombie gets its answer while the other is still sending.
    zombie.signal(Signal::Continue).await.unwrap();
    world.receiver.behave(Manner::Answer(200));
    wait::until("the zombie to notice", PATIENCE, async || {
        let log = zombie.log();
        anyhow::ensure!(log.contains("lost lease"), "it logged:\n{log}");
        Ok(Some(()))
    })
    .await
    .unwrap();
    world.until_drained().await.unwrap();
    for row in world.rows("outbox", doc! {}).await.unwrap() {
        assert_eq!(row.get_str("status").unwrap(), "sent");
    }
    world.finish(&[&event.id]).await.unwrap();
}
