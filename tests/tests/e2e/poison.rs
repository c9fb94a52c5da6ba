//! Poison stops alone: a bad event ends as a dead letter while others flow.

use std::time::Duration;

use bson::doc;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, WorldOptions, story};

#[tokio::test]
async fn a_poison_event_ends_dead_after_its_attempts_while_others_flow() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let _worker = world.worker("worker").await.unwrap();
    world.until_count("workers", doc! {}, 1).await.unwrap();
    // A document that no version of ours has written: reading it fails every time.
    let broken = doc! { "_id": "self:test:cus_poison", "links": 5, "version": "x" };
    let customers = world.database.collection::<bson::Document>("customers");
    customers.insert_one(broken).await.unwrap();

    let poison = story::subscription("evt_poison", "poison", "active", story::AT);
    world.deliver(&ingest, &poison.body).await.unwrap();
    let mut ids = vec!["evt_poison".to_owned()];
    for number in 0..20 {
        let id = format!("evt_{number}");
        let event = story::subscription(&id, &format!("c{number}"), "active", story::AT);
        world.deliver(&ingest, &event.body).await.unwrap();
        ids.push(id);
    }
    let applied = doc! { "status": "processed", "outcome": "applied" };
    world.until_count("events", applied, 20).await.unwrap();
    world.until_drained().await.unwrap();
    let row = world.event("evt_poison").await.unwrap();
    assert_eq!(row.get_str("status").unwrap(), "dead");
    assert_eq!(row.get_i32("attempts").unwrap(), 3);
    assert!(
        !row.get_document("lastError")
            .unwrap()
            .get_str("kind")
            .unwrap()
            .is_empty()
    );
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    world.finish(&ids).await.unwrap();
}

#[tokio::test]
async fn an_event_whose_worker_dies_three_times_is_buried_and_was_never_an_attempt() {
    let options = WorldOptions {
        lease: Duration::from_secs(1),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.deliver(&ingest, &event.body).await.unwrap();
    for crash in 1..=3 {
        let role = format!("victim{crash}");
        let point = world.fail(&role, "update", Some("purchases"));
        let point = point
            .block(Duration::from_secs(2))
            .error_code(11_601)
            .arm(&world.uri)
            .await
            .unwrap();
        let victim = world.worker(&role).await.unwrap();
        point.wait_entered(1, PATIENCE).await.unwrap();
        victim.kill().await.unwrap();
        point.off().await.unwrap();
    }
    let _last = world.worker("last").await.unwrap();
    world.until_drained().await.unwrap();
    let row = world.event(&event.id).await.unwrap();
    assert_eq!(row.get_str("status").unwrap(), "dead");
    assert_eq!(
        row.get_document("lastError")
            .unwrap()
            .get_str("kind")
            .unwrap(),
        "crashed"
    );
    assert_eq!(
        (
            row.get_i32("crashes").unwrap(),
            row.get_i32("attempts").unwrap()
        ),
        (3, 0)
    );
    assert!(world.rows("purchases", doc! {}).await.unwrap().is_empty());
    world.finish(&[&event.id]).await.unwrap();
}

#[tokio::test]
async fn an_authentic_delivery_that_nobody_can_read_is_a_dead_letter_and_answered_200() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    let bodies = [
        "not json at all".to_owned(),
        r#"{"id":17,"type":"customer.subscription.updated"}"#.to_owned(),
        story::subscription("evt_live", "l", "active", story::AT)
            .body
            .replace(r#""livemode":false"#, r#""livemode":true"#),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ];
    for body in &bodies {
        world.deliver(&ingest, body).await.unwrap();
    }
    let dead = doc! { "status": "dead" };
    world.until_count("events", dead, 4).await.unwrap();
    for row in world.rows("events", doc! {}).await.unwrap() {
        assert_eq!(row.get_i32("attempts").unwrap(), 0, "{row}");
    }
    world.finish(&[]).await.unwrap();
}

#[tokio::test]
async fn an_event_of_a_type_that_nobody_handles_ends_as_ignored() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    let event = story::of_type("thing.happened", "evt_thing", story::AT);
    world.deliver(&ingest, &event.body).await.unwrap();
    world.until_drained().await.unwrap();
    let row = world.event("evt_thing").await.unwrap();
    assert_eq!(row.get_str("outcome").unwrap(), "ignored");
    assert!(row.contains_key("expireAt"));
    world.finish(&["evt_thing"]).await.unwrap();
}

#[tokio::test]
async fn an_event_that_kills_its_worker_takes_no_neighbour_along() {
    let options = WorldOptions {
        lease: Duration::from_secs(1),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let poison = story::credit_pack();
    world.deliver(&ingest, &poison.body).await.unwrap();
    let mut neighbours = Vec::new();
    for number in 0..3 {
        let id = format!("evt_neighbour_{number}");
        let event = story::subscription(&id, &format!("n{number}"), "active", story::AT);
        world.deliver(&ingest, &event.body).await.unwrap();
        neighbours.push(id);
    }
    // All of them were in hand when a worker died.
    let events = world.database.collection::<bson::Document>("events");
    let marked = doc! { "$set": { "crashes": 1 } };
    events.update_many(doc! {}, marked).await.unwrap();
    let point = world.fail("victim", "update", Some("purchases"));
    let point = point
        .block(Duration::from_secs(2))
        .error_code(11_601)
        .arm(&world.uri)
        .await
        .unwrap();
    let victim = world.worker("victim").await.unwrap();
    point.wait_entered(1, PATIENCE).await.unwrap();
    let neighbour = doc! { "status": "processing", "eventId": { "$ne": &poison.id } };
    let held = world.rows("events", neighbour).await.unwrap();
    assert!(held.is_empty(), "in hand beside the poison: {held:?}");
    victim.kill().await.unwrap();
    point.off().await.unwrap();
    let _last = world.worker("last").await.unwrap();
    world.until_drained().await.unwrap();
    for id in &neighbours {
        let row = world.event(id).await.unwrap();
        assert_eq!(row.get_str("status").unwrap(), "processed", "{id}");
        assert_eq!(row.get_i32("crashes").unwrap(), 1, "{id}");
    }
    let row = world.event(&poison.id).await.unwrap();
    assert_eq!(row.get_i32("crashes").unwrap(), 2);
}

#[tokio::test]
async fn rows_from_before_all_time_stop_no_processor() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let mut ids = Vec::new();
    // More than there are processors.
    for number in 0..6 {
        let id = format!("evt_old_{number}");
        let event = story::subscription(&id, &format!("o{number}"), "active", story::AT);
        world.deliver(&ingest, &event.body).await.unwrap();
        ids.push(id);
    }
    let events = world.database.collection::<bson::Document>("events");
    // No clock's difference to it fits into a number.
    let old = doc! { "$set": { "receivedAt": bson::DateTime::MIN } };
    events.update_many(doc! {}, old).await.unwrap();
    let _worker = world.worker("worker").await.unwrap();
    world.until_drained().await.unwrap();
    let last = story::subscription("evt_last", "last", "active", story::AT);
    world.deliver(&ingest, &last.body).await.unwrap();
    world.until_drained().await.unwrap();
    ids.push("evt_last".to_owned());
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    world.finish(&ids).await.unwrap();
}
