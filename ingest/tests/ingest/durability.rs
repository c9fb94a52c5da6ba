//! 200 means: on a majority, in the journal. Whatever the database does meanwhile.

use std::time::Duration;

use bson::doc;
use hookledger_dev::mongo::{FailPoint, Members, ReplicaSet, ReplicaSetOptions, wait};
use hookledger_shared::config::Source;
use mongodb::options::ReadConcern;

use crate::rig::{PATIENCE, Reply, Rig, event, new_database, source};

/// A source that gives up quickly, so that an outage is told soon.
fn impatient() -> Source {
    let mut source = source("stripe");
    source.commit_timeout = Duration::from_millis(2_500);
    source
}

async fn three_members() -> ReplicaSet {
    let options = ReplicaSetOptions::for_tests(Members::Three);
    ReplicaSet::start(&options).await.unwrap()
}

/// Delivers until it is acknowledged.
async fn until_acknowledged(rig: &Rig, id: &str) -> Reply {
    wait::until("an acknowledgement", PATIENCE, async || {
        let reply = rig.deliver(event(id)).await;
        assert!(reply.status == 200 || reply.is_unavailable(), "{reply:?}");
        Ok((reply.status == 200).then_some(reply))
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_is_not_acknowledged_before_the_first_copy_is_on_a_majority() {
    let set = three_members().await;
    let rig = Rig::on(&set.uri(), new_database(), vec![impatient()]).await;
    let primary = set.primary().await.unwrap();
    let mut stopped = Vec::new();
    for member in (0..set.size()).filter(|member| *member != primary) {
        let uri = set.member(member).uri();
        for point in ["stopReplProducer", "rsSyncApplyStop"] {
            stopped.push(FailPoint::named(point).arm(&uri).await.unwrap());
        }
    }

    let first = rig.deliver(event("evt_1")).await;
    assert!(first.is_unavailable(), "{first:?}");
    // The trap is set: the primary has the row, and answers every retry with a duplicate.
    let local = rig.events().await;
    let found = local.find_one(doc! { "eventId": "evt_1" });
    let found = found.read_concern(ReadConcern::local()).await.unwrap();
    assert!(found.is_some());
    for _ in 0..2 {
        let again = rig.deliver(event("evt_1")).await;
        assert!(again.is_unavailable(), "{again:?}");
    }
    assert_eq!(rig.get("/readyz").await.status, 503);

    for point in stopped {
        point.off().await.unwrap();
    }
    assert!(until_acknowledged(&rig, "evt_1").await.is_duplicate());
    assert_eq!(rig.rows("stripe").await.len(), 1);
    rig.wait_until_ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_majority_ingest_says_503_and_recovers_by_itself() {
    let mut set = three_members().await;
    let rig = Rig::on(&set.uri(), new_database(), vec![impatient()]).await;
    assert!(rig.deliver(event("evt_1")).await.is_stored());
    let primary = set.primary().await.unwrap();
    let others: Vec<usize> = (0..set.size())
        .filter(|member| *member != primary)
        .collect();
    for member in &others {
        set.member_mut(*member).kill().await.unwrap();
    }
    for number in 2..5 {
        let reply = rig.deliver(event(&format!("evt_{number}"))).await;
        assert!(reply.is_unavailable(), "{reply:?}");
    }
    let readyz = rig.get("/readyz").await;
    assert_eq!(readyz.status, 503, "{readyz:?}");
    assert_eq!(rig.get("/livez").await.status, 200);

    for member in &others {
        set.member_mut(*member).restart().await.unwrap();
    }
    for number in 2..5 {
        until_acknowledged(&rig, &format!("evt_{number}")).await;
    }
    rig.wait_until_ready().await;
    assert_eq!(rig.rows("stripe").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_primary_costs_no_acknowledged_delivery() {
    let mut set = three_members().await;
    let rig = Rig::on(&set.uri(), new_database(), vec![impatient()]).await;
    for number in 0..20 {
        let reply = rig.deliver(event(&format!("evt_{number}"))).await;
        assert!(reply.is_stored(), "{reply:?}");
    }
    let primary = set.primary().await.unwrap();
    set.member_mut(primary).kill().await.unwrap();
    for number in 20..40 {
        until_acknowledged(&rig, &format!("evt_{number}")).await;
    }
    assert_eq!(rig.rows("stripe").await.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_majority_is_unknown_is_not_acknowledged() {
    let rig = Rig::start().await;
    let timed_out = || {
        FailPoint::on_commands(["insert"])
            .app_name(&rig.database)
            .write_concern_timeout()
            .times(1)
    };
    // The row is written both times, and the second time the answer says "duplicate" too.
    for _ in 0..2 {
        let armed = timed_out().arm(&rig.uri).await.unwrap();
        let reply = rig.deliver(event("evt_1")).await;
        assert!(reply.is_unavailable(), "{reply:?}");
        armed.off().await.unwrap();
        assert_eq!(rig.rows("stripe").await.len(), 1);
    }
    assert!(rig.deliver(event("evt_1")).await.is_duplicate());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_answer_in_time_is_an_answer_of_503() {
    let rig = Rig::with(vec![impatient()]).await;
    let stuck = FailPoint::on_commands(["insert"])
        .app_name(&rig.database)
        .block(Duration::from_secs(10))
        .times(1);
    let armed = stuck.arm(&rig.uri).await.unwrap();
    let reply = rig.deliver(event("evt_1")).await;
    assert!(reply.is_unavailable(), "{reply:?}");
    armed.off().await.unwrap();
    until_acknowledged(&rig, "evt_1").await;
    assert_eq!(rig.rows("stripe").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_batch_is_an_answer_of_503_and_the_next_one_is_stored() {
    let rig = Rig::start().await;
    let refused = FailPoint::on_commands(["insert"])
        .app_name(&rig.database)
        .error_code(8_000)
        .times(1);
    let armed = refused.arm(&rig.uri).await.unwrap();
    let reply = rig.deliver(event("evt_1")).await;
    assert!(reply.is_unavailable(), "{reply:?}");
    assert!(rig.deliver(event("evt_1")).await.is_stored());
    armed.off().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_early_harms_nobody() {
    let rig = Rig::start().await;
    let slow = FailPoint::on_commands(["insert"])
        .app_name(&rig.database)
        .block(Duration::from_millis(300))
        .times(1);
    let armed = slow.arm(&rig.uri).await.unwrap();
    {
        let gone = rig.deliver(event("evt_gone"));
        tokio::pin!(gone);
        tokio::select! {
            reply = &mut gone => panic!("{reply:?}"),
            entered = armed.wait_entered(1, PATIENCE) => entered.unwrap(),
        }
    }
    assert!(rig.deliver(event("evt_2")).await.is_stored());
    assert!(rig.deliver(event("evt_gone")).await.is_duplicate());
    armed.off().await.unwrap();
    let metrics = rig.get("/metrics").await.body;
    assert!(
        metrics.contains("hookledger_queue_deliveries 0"),
        "{metrics}"
    );
    assert!(metrics.contains("hookledger_queue_bytes 0"), "{metrics}");
}
