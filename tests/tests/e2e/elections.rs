//! The database's own troubles: a primary that dies under traffic, no majority, a restart.

use std::time::{Duration, Instant};

use bson::doc;
use hookledger_dev::mongo::{Members, ReplicaSet, ReplicaSetOptions, wait};
use hookledger_dev::stack::Program;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, WorldOptions, story};

async fn three() -> (ReplicaSet, World) {
    world_on(ReplicaSetOptions::for_tests(Members::Three)).await
}

async fn world_on(options: ReplicaSetOptions) -> (ReplicaSet, World) {
    let set = ReplicaSet::start(&options).await.unwrap();
    let options = WorldOptions {
        uri: Some(set.uri()),
        commit_timeout: Duration::from_secs(2),
        // Longer than an election, as in production.
        lease: Duration::from_secs(8),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    (set, world)
}

/// Sends one event a call until it is acknowledged; until then the answer is 503.
async fn insist(world: &World, ingest: &Program, number: usize) -> String {
    let id = format!("evt_{number}");
    let event = story::subscription(&id, &format!("c{number}"), "active", story::AT);
    wait::until("an acknowledgement", PATIENCE, async || {
        let answer = world.send(ingest, &event.body).await?;
        if answer.status == 503 {
            assert!(answer.retry_after.is_some(), "a 503 says when to come back");
        } else {
            assert_eq!(answer.status, 200);
        }
        Ok((answer.status == 200).then_some(()))
    })
    .await
    .unwrap();
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_killed_under_traffic_loses_nothing_and_costs_no_attempt() {
    let (mut set, world) = three().await;
    let ingest = world.ingest().await.unwrap();
    let worker = world.worker("worker").await.unwrap();
    let mut ids = Vec::new();
    for number in 0..30 {
        ids.push(insist(&world, &ingest, number).await);
    }
    let primary = set.primary().await.unwrap();
    set.member_mut(primary).kill().await.unwrap();
    // Each answer is 200 or 503. Whether one is 503 here is luck: an election may be over
    // before a delivery has waited too long. Where there is none, the next promise has it.
    for number in 30..90 {
        ids.push(insist(&world, &ingest, number).await);
    }
    world.until_drained().await.unwrap();
    for row in world.rows("events", doc! {}).await.unwrap() {
        assert_eq!(row.get_i32("attempts").unwrap(), 0, "{row}");
        assert_eq!(
            row.get_i32("crashes").unwrap(),
            0,
            "an outage is nobody's crash: {row}"
        );
        assert_eq!(row.get_str("outcome").unwrap(), "applied");
    }
    assert_eq!(world.count("subscriptions", doc! {}).await.unwrap(), 90);
    let welcomes = doc! { "topic": "welcome" };
    assert_eq!(world.count("outbox", welcomes).await.unwrap(), 90);
    assert!(
        worker.stop(PATIENCE).await.unwrap().success(),
        "the worker went on by itself"
    );
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    world.finish(&ids).await.unwrap();
    set.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nothing_is_acknowledged_and_nobody_is_ready() {
    let (mut set, world) = three().await;
    let ingest = world.ingest().await.unwrap();
    let worker = world.worker("worker").await.unwrap();
    let first = insist(&world, &ingest, 0).await;
    world.until_drained().await.unwrap();
    for program in [&ingest, &worker] {
        until_ready(program, true).await;
    }
    let primary = set.primary().await.unwrap();
    let others: Vec<_> = (0..set.size()).filter(|index| *index != primary).collect();
    for index in &others {
        set.member_mut(*index).kill().await.unwrap();
    }
    let event = story::subscription("evt_1", "c1", "active", story::AT);
    let answer = world.send(&ingest, &event.body).await.unwrap();
    assert_eq!(answer.status, 503);
    for program in [&ingest, &worker] {
        until_ready(program, false).await;
        assert_eq!(status(program, "livez").await, 200, "alive all the same");
    }
    for index in &others {
        set.member_mut(*index).restart().await.unwrap();
    }
    for program in [&ingest, &worker] {
        until_ready(program, true).await;
    }
    insist(&world, &ingest, 1).await;
    world.until_drained().await.unwrap();
    world.finish(&[&first, "evt_1"]).await.unwrap();
    set.stop().await.unwrap();
}

/// Trap 5: with the driver's own settings writers stall for 17 s here, whatever the replica
/// set's election time-out is. The server has a share in it as well: the other secondary
/// waits for the frozen primary's oplog, and until it gives up nothing is on a majority. That
/// share is cut short here by its parameter, to see ours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_primary_is_noticed_in_seconds_and_loses_nothing() {
    let options = ReplicaSetOptions::for_tests(Members::Three);
    let options = options.set_parameter("oplogNetworkTimeoutBufferSeconds", "1");
    let (mut set, world) = world_on(options).await;
    let ingest = world.ingest().await.unwrap();
    let _worker = world.worker("worker").await.unwrap();
    let first = insist(&world, &ingest, 0).await;
    let primary = set.primary().await.unwrap();
    set.member_mut(primary).pause().unwrap();
    let frozen = Instant::now();
    let second = insist(&world, &ingest, 1).await;
    let stalled = frozen.elapsed();
    assert!(stalled < Duration::from_secs(12), "stalled for {stalled:?}");
    world.until_drained().await.unwrap();
    set.member_mut(primary).resume().unwrap();
    set.wait_until_whole().await.unwrap();
    world.until_drained().await.unwrap();
    for row in world.rows("events", doc! {}).await.unwrap() {
        assert_eq!(row.get_i32("attempts").unwrap(), 0, "{row}");
    }
    world.finish(&[&first, &second]).await.unwrap();
    set.stop().await.unwrap();
}

async fn status(program: &Program, path: &str) -> u16 {
    let url = format!("http://{}/{path}", program.address("ops").unwrap());
    hookledger_tests::http::get(&url).await.unwrap().0
}

async fn until_ready(program: &Program, ready: bool) {
    let what = if ready { "ready" } else { "not ready" };
    wait::until(what, PATIENCE, async || {
        let is = status(program, "readyz").await == 200;
        Ok((is == ready).then_some(()))
    })
    .await
    .unwrap();
}
