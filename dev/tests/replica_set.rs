//! What holds for a local replica set: it writes to a majority, elects, and fails as it is told to.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::time::{Duration, Instant};

use bson::doc;
use hookledger_dev::mongo::{FailPoint, Members, ReplicaSet, ReplicaSetOptions, direct, shared};
use mongodb::options::{ClientOptions, WriteConcern};
use mongodb::{Client, Collection};

async fn client(uri: &str, app_name: &str) -> Client {
    let mut options = ClientOptions::parse(uri).await.unwrap();
    options.app_name = Some(app_name.to_owned());
    Client::with_options(options).unwrap()
}

async fn things(uri: &str, app_name: &str, database: &str) -> Collection<bson::Document> {
    client(uri, app_name)
        .await
        .database(database)
        .collection("things")
}

#[tokio::test]
async fn the_shared_server_takes_majority_writes_and_transactions() {
    let uri = shared::uri().await.unwrap();
    let things = things(&uri, "majority", "majority").await;
    things
        .insert_one(doc! {})
        .write_concern(WriteConcern::majority())
        .await
        .unwrap();
    let hello = direct::command(&uri, doc! { "hello": 1 }).await.unwrap();
    assert!(hello.contains_key("setName"));
}

#[tokio::test]
async fn everyone_who_asks_gets_the_same_shared_server() {
    let (first, second) = tokio::join!(shared::uri(), shared::uri());
    assert_eq!(first.unwrap(), second.unwrap());
}

#[tokio::test]
async fn a_fail_point_hits_the_named_client_and_no_other() {
    let uri = shared::uri().await.unwrap();
    let (named, other) = (
        things(&uri, "fp-named", "fail_point").await,
        things(&uri, "fp-other", "fail_point").await,
    );
    let armed = FailPoint::on_commands(["insert"])
        .app_name("fp-named")
        .error_code(8000)
        .arm(&uri)
        .await
        .unwrap();
    other.insert_one(doc! {}).await.unwrap();
    named.insert_one(doc! {}).await.unwrap_err();
    armed.off().await.unwrap();
    named.insert_one(doc! {}).await.unwrap();
}

#[tokio::test]
async fn a_fail_point_hits_as_often_as_it_was_told() {
    let uri = shared::uri().await.unwrap();
    let things = things(&uri, "fp-times", "fail_point").await;
    let point = FailPoint::on_commands(["insert"])
        .app_name("fp-times")
        .namespace("fail_point.things");
    let armed = point.error_code(8000).times(2).arm(&uri).await.unwrap();
    things.insert_one(doc! {}).await.unwrap_err();
    things.insert_one(doc! {}).await.unwrap_err();
    things.insert_one(doc! {}).await.unwrap();
    armed.off().await.unwrap();
}

#[tokio::test]
async fn a_blocked_command_counts_as_entered_while_it_is_held() {
    const HELD: Duration = Duration::from_secs(2);
    let uri = shared::uri().await.unwrap();
    let things = things(&uri, "fp-block", "fail_point").await;
    let point = FailPoint::on_commands(["insert"])
        .app_name("fp-block")
        .block(HELD);
    let armed = point.times(1).arm(&uri).await.unwrap();
    let begun = Instant::now();
    let (insert, entered) = tokio::join!(
        async {
            things.insert_one(doc! {}).await.unwrap();
            begun.elapsed()
        },
        async {
            armed
                .wait_entered(1, Duration::from_secs(10))
                .await
                .unwrap();
            begun.elapsed()
        }
    );
    assert!(
        entered < HELD && insert >= HELD,
        "entered after {entered:?}, inserted after {insert:?}"
    );
    armed.off().await.unwrap();
}

#[tokio::test]
async fn a_fail_point_that_was_dropped_is_disarmed() {
    let uri = shared::uri().await.unwrap();
    let things = things(&uri, "fp-drop", "fail_point").await;
    let point = FailPoint::on_commands(["insert"])
        .app_name("fp-drop")
        .error_code(8000);
    drop(point.arm(&uri).await.unwrap());
    things.insert_one(doc! {}).await.unwrap();
}

#[tokio::test]
async fn a_failed_majority_is_reported_for_a_write_that_was_made() {
    let uri = shared::uri().await.unwrap();
    let things = things(&uri, "fp-concern", "fail_point_concern").await;
    let point = FailPoint::on_commands(["insert"])
        .app_name("fp-concern")
        .write_concern_timeout();
    let armed = point.times(1).arm(&uri).await.unwrap();
    things.insert_one(doc! { "_id": 1 }).await.unwrap_err();
    assert_eq!(things.count_documents(doc! {}).await.unwrap(), 1);
    armed.off().await.unwrap();
}

#[tokio::test]
async fn three_members_elect_another_when_the_primary_is_killed() {
    let mut set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::Three))
        .await
        .unwrap();
    let things = things(&set.uri(), "failover", "failover").await;
    let majority = WriteConcern::majority();
    things
        .insert_one(doc! { "_id": 1 })
        .write_concern(majority.clone())
        .await
        .unwrap();
    let old = set.primary().await.unwrap();
    set.member_mut(old).kill().await.unwrap();
    assert_ne!(set.primary().await.unwrap(), old);
    things
        .insert_one(doc! { "_id": 2 })
        .write_concern(majority)
        .await
        .unwrap();
    set.member_mut(old).restart().await.unwrap();
    set.wait_until_whole().await.unwrap();
    assert_eq!(things.count_documents(doc! {}).await.unwrap(), 2);
}

#[tokio::test]
async fn three_members_elect_another_when_the_primary_is_paused() {
    let mut set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::Three))
        .await
        .unwrap();
    let old = set.primary().await.unwrap();
    set.member_mut(old).pause().unwrap();
    // The paused one does not answer, so whoever is found is another.
    assert_ne!(set.primary().await.unwrap(), old);
    set.wait_until_writable().await.unwrap();
    set.member_mut(old).resume().unwrap();
    set.wait_until_whole().await.unwrap();
}

#[tokio::test]
async fn a_primary_that_steps_down_makes_room_for_another() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::Three))
        .await
        .unwrap();
    let old = set.primary().await.unwrap();
    set.step_down().await.unwrap();
    assert_ne!(set.primary().await.unwrap(), old);
    set.wait_until_writable().await.unwrap();
    set.stop().await.unwrap();
}

#[tokio::test]
async fn a_lone_member_is_primary_again_after_stepping_down() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::One))
        .await
        .unwrap();
    set.step_down().await.unwrap();
    assert_eq!(set.primary().await.unwrap(), 0);
    set.wait_until_writable().await.unwrap();
}
