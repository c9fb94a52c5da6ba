//! `kill -9` between each two steps: the same end state after a restart.

use std::time::Duration;

use anyhow::Result;
use bson::doc;
use hookledger_dev::mongo::{FailPoint, Members, ReplicaSet, ReplicaSetOptions, wait};
use hookledger_tests::receiver::Manner;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, WorldOptions, story};

/// How long a program is held where it shall die: a kill takes milliseconds. (Disarming a
/// fail point waits for whoever is held, so no longer than that.)
const HELD: Duration = Duration::from_secs(3);
/// `Interrupted`: what the server does with the command of a client that is gone.
const NOT_EXECUTED: i32 = 11_601;

/// The end of a world in which nothing went wrong.
async fn undisturbed() -> Result<std::collections::BTreeMap<String, Vec<String>>> {
    let world = World::new().await?;
    let (ingest, _worker) = (world.ingest().await?, world.worker("worker").await?);
    world.deliver(&ingest, &story::credit_pack().body).await?;
    world.until_drained().await?;
    world.end_state().await
}

/// Kills a worker that is held at a command, starts another, and compares the ends.
async fn killed_at(command: &str, collection: Option<&str>) -> Result<()> {
    let world = World::new().await?;
    let ingest = world.ingest().await?;
    let event = story::credit_pack();
    world.deliver(&ingest, &event.body).await?;
    let point = world
        .fail("first", command, collection)
        .block(HELD)
        .error_code(NOT_EXECUTED);
    let point = point.arm(&world.uri).await?;
    let first = world.worker("first").await?;
    point.wait_entered(1, PATIENCE).await?;
    first.kill().await?;
    point.off().await?;
    let _second = world.worker("second").await?;
    check(world, &event.id).await
}

async fn check(world: World, id: &str) -> Result<()> {
    world.until_drained().await?;
    assert_eq!(world.end_state().await?, undisturbed().await?);
    let row = world.event(id).await?;
    assert_eq!(row.get_str("outcome")?, "applied");
    assert_eq!(row.get_i32("attempts")?, 0, "a crash is no attempt");
    world.finish(&[id]).await
}

#[tokio::test]
async fn a_worker_killed_before_it_claims_changes_nothing() {
    killed_at("findAndModify", Some("events")).await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_after_its_claim_leaves_the_event_claimable() {
    killed_at("update", Some("events")).await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_between_two_domain_writes_leaves_none_of_them() {
    killed_at("update", Some("purchases")).await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_before_its_commit_leaves_nothing_behind() {
    killed_at("commitTransaction", None).await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_after_its_commit_owes_only_the_messages() {
    killed_at("findAndModify", Some("outbox")).await.unwrap();
}

/// The commit has happened, its answer never came: what a lost reply looks like.
#[tokio::test]
async fn a_worker_killed_before_its_commit_is_acknowledged_has_committed_once() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::One))
        .await
        .unwrap();
    let options = WorldOptions {
        uri: Some(set.uri()),
        // Half of it is longer than the commit is held.
        lease: Duration::from_secs(8),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.deliver(&ingest, &event.body).await.unwrap();
    // Held at its commit until the other fail point is armed; then it commits and hangs.
    let commit = world
        .fail("first", "commitTransaction", None)
        .block(Duration::from_secs(1));
    let commit = commit.times(1).arm(&world.uri).await.unwrap();
    let first = world.worker("first").await.unwrap();
    commit.wait_entered(1, PATIENCE).await.unwrap();
    let hang = FailPoint::named("hangBeforeWaitingForWriteConcern");
    let hang = hang.arm(&world.uri).await.unwrap();
    let done = doc! { "status": "processed" };
    world.until_count("events", done, 1).await.unwrap();
    first.kill().await.unwrap();
    hang.off().await.unwrap();
    commit.off().await.unwrap();
    let _second = world.worker("second").await.unwrap();
    assert_eq!(
        world
            .event(&event.id)
            .await
            .unwrap()
            .get_i64("epoch")
            .unwrap(),
        1
    );
    check(world, &event.id).await.unwrap();
    set.stop().await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_after_sending_repeats_the_message_with_the_same_key() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.receiver.behave(Manner::Hold);
    let first = world.worker("first").await.unwrap();
    world.deliver(&ingest, &event.body).await.unwrap();
    let arrived = wait::until("a delivery", PATIENCE, async || {
        Ok(world.receiver.deliveries().into_iter().next())
    });
    let arrived = arrived.await.unwrap();
    first.kill().await.unwrap();
    world.receiver.behave(Manner::Answer(200));
    let _second = world.worker("second").await.unwrap();
    world.until_drained().await.unwrap();
    let counts = world.receiver.counts();
    assert!(
        counts[arrived.id()] >= 2,
        "the repeat that is documented: {counts:?}"
    );
    assert!(counts.values().all(|count| *count <= 2), "{counts:?}");
    check(world, &event.id).await.unwrap();
}

#[tokio::test]
async fn a_worker_killed_before_it_notes_a_delivery_repeats_it_with_the_same_key() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.receiver.behave(Manner::Hold);
    let first = world.worker("first").await.unwrap();
    world.deliver(&ingest, &event.body).await.unwrap();
    wait::until("deliveries", PATIENCE, async || {
        Ok((!world.receiver.deliveries().is_empty()).then_some(()))
    })
    .await
    .unwrap();
    let point = world
        .fail("first", "update", Some("outbox"))
        .block(HELD)
        .error_code(NOT_EXECUTED);
    let point = point.arm(&world.uri).await.unwrap();
    world.receiver.behave(Manner::Answer(200));
    point.wait_entered(1, PATIENCE).await.unwrap();
    first.kill().await.unwrap();
    point.off().await.unwrap();
    let _second = world.worker("second").await.unwrap();
    world.until_drained().await.unwrap();
    let counts = world.receiver.counts();
    assert!(
        counts.values().any(|count| *count == 2),
        "the repeat that is documented: {counts:?}"
    );
    assert!(counts.values().all(|count| *count <= 2), "{counts:?}");
    check(world, &event.id).await.unwrap();
}

/// Ingest has committed and dies before it answers; the provider tries again.
#[tokio::test]
async fn an_ingest_killed_between_commit_and_answer_has_stored_one_event() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::One))
        .await
        .unwrap();
    let options = WorldOptions {
        uri: Some(set.uri()),
        ..WorldOptions::default()
    };
    let world = World::with(options).await.unwrap();
    let first = world.ingest().await.unwrap();
    let event = story::credit_pack();
    // A first delivery of another event, so that ingest is known to be ready.
    world
        .deliver(
            &first,
            &story::of_type("thing.happened", "evt_ready", story::AT).body,
        )
        .await
        .unwrap();
    let hang = FailPoint::named("hangBeforeWaitingForWriteConcern");
    let hang = hang.arm(&world.uri).await.unwrap();
    {
        let sending = world.send(&first, &event.body);
        let stored = world.until_count("events", doc! { "eventId": &event.id }, 1);
        tokio::select! {
            answer = sending => panic!("answered before a majority had it: {answer:?}"),
            stored = stored => stored.unwrap(),
        }
    }
    first.kill().await.unwrap();
    hang.off().await.unwrap();
    let second = world.ingest().await.unwrap();
    world.deliver(&second, &event.body).await.unwrap();
    let _worker = world.worker("worker").await.unwrap();
    check(world, &event.id).await.unwrap();
    set.stop().await.unwrap();
}
