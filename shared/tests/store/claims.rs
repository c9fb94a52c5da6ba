//! Claims: one at a time, the oldest first, through a small index, undisturbed by what is
//! stuck.

use std::collections::HashSet;
use std::time::Duration;

use bson::{Document, doc};
use futures::future::join_all;
use hookledger_dev::mongo::wait;
use hookledger_shared::clock;
use hookledger_shared::model::event::Status;
use hookledger_shared::model::lease::Transition;
use hookledger_shared::store::events::{Ending, Failure};
use hookledger_shared::store::transaction::Slot;
use hookledger_shared::store::{DeadLetter, Operator};
use mongodb::ClientSession;

use crate::bed::{self, LEASE, claimed, terms};

#[tokio::test]
async fn sixteen_claimers_never_claim_an_event_twice() {
    let stores = bed::stores().await;
    bed::insert(&stores, (0..200).map(|n| format!("evt_{n}"))).await;
    let claimers = (0..16).map(|number| {
        let stores = stores.clone();
        async move {
            let mut slot = Slot::open(&stores).await.unwrap();
            let terms = terms(&format!("worker-{number}"), LEASE);
            let mut mine = Vec::new();
            while let Some(event) = stores.events.claim(&mut slot, &terms).await.unwrap() {
                mine.push(event.event_id);
            }
            mine
        }
    });
    let all: Vec<_> = join_all(claimers).await.into_iter().flatten().collect();
    let distinct: HashSet<_> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (200, 200));
}

#[tokio::test]
async fn each_claim_has_a_new_epoch_also_after_an_operators_requeue() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let terms = terms("w", LEASE);
    let (event, first) = claimed(&stores, &mut slot, &terms).await;
    let bury = Ending::Bury {
        failure: Failure {
            kind: "fault".to_owned(),
            // Evaluated, this would be the row's status.
            message: "$status".to_owned(),
        },
        fault: true,
    };
    assert_eq!(
        stores.events.end(&first, &bury).await.unwrap(),
        Transition::Done
    );
    let dead = stores.events.by_event_id("a").await.unwrap().remove(0);
    assert_eq!(dead.status, Status::Dead);
    assert_eq!(dead.last_error.unwrap().message, "$status");
    let letter = DeadLetter::Event(event.id);
    let operator = Operator {
        who: "ada".to_owned(),
        from: "desk".to_owned(),
    };
    for (dead, why) in [(true, "it is dead"), (false, "it is dead no more")] {
        let now = clock::now();
        let requeued = stores.requeue(&mut slot, letter, &operator, now);
        assert_eq!(requeued.await.unwrap(), dead, "{why}");
    }
    let (event, second) = claimed(&stores, &mut slot, &terms).await;
    assert_eq!((first.epoch, second.epoch, event.attempts), (1, 2, 0));
}

#[tokio::test]
async fn a_claim_reads_one_row_however_many_wait_for_later() {
    let stores = bed::stores().await;
    let mut rows: Vec<_> = (0..2_000)
        .map(|n| bed::event(&format!("later_{n}")))
        .collect();
    for (number, row) in rows.iter_mut().enumerate() {
        let later = row.received_at.timestamp_millis() + 3_600_000 + i64::try_from(number).unwrap();
        row.received_at = bson::DateTime::from_millis(later);
    }
    let rows: Vec<_> = rows.iter().map(|row| row.row()).collect();
    stores.events.insert_many(&rows, bed::LIMIT).await.unwrap();
    // The claim's own filter and order.
    let explain = doc! {
        "explain": {
            "find": "events",
            "filter": { "status": "received", "$expr": { "$lte": ["$dueAt", "$$NOW"] } },
            "sort": { "dueAt": 1 },
            "limit": 1,
        },
        "verbosity": "executionStats",
    };
    let explained = stores.database().run_command(explain).await.unwrap();
    let stats = explained.get_document("executionStats").unwrap();
    assert!(stats.get_i32("totalKeysExamined").unwrap() <= 1, "{stats}");
    assert!(stats.get_i32("totalDocsExamined").unwrap() <= 1, "{stats}");
    let mut slot = Slot::open(&stores).await.unwrap();
    let nothing = stores
        .events
        .claim(&mut slot, &terms("w", LEASE))
        .await
        .unwrap();
    assert!(nothing.is_none());
}

/// A worker that claimed, opened its transaction, fenced, and died without a word.
async fn died_with_its_transaction_open(
    stores: &hookledger_shared::store::Stores,
    lease: Duration,
) -> ClientSession {
    let mut slot = Slot::open(stores).await.unwrap();
    let (_, claim) = claimed(stores, &mut slot, &terms("dead", lease)).await;
    // The claim's own session, whose transaction nobody ends.
    let mut session = slot.into_session();
    session.start_transaction().await.unwrap();
    assert!(stores.events.fence(&mut session, &claim).await.unwrap());
    session
}

/// Traps 2 and 3.
#[tokio::test]
async fn a_row_locked_by_a_dead_workers_transaction_stops_nobody_and_comes_back_at_once() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["stuck".to_owned()]).await;
    let _open = died_with_its_transaction_open(&stores, Duration::from_millis(1)).await;
    bed::insert(&stores, (0..50).map(|n| format!("free_{n}"))).await;

    // Others claim past it.
    let mut slot = Slot::open(&stores).await.unwrap();
    for _ in 0..50 {
        let (event, _) = claimed(&stores, &mut slot, &terms("alive", LEASE)).await;
        assert!(event.event_id.starts_with("free_"));
    }

    // Without the kill the row is locked, and saying so takes only the short time limit.
    let expired = stores.events.expired(10).await.unwrap();
    assert_eq!(expired.len(), 1);
    assert_eq!(stores.events.rescue(&expired[0], true).await.unwrap(), None);

    // With it the row is back at once.
    stores.kill_sessions([&expired[0].lease]).await.unwrap();
    let rescued = wait::until(
        "the stuck row to come back",
        Duration::from_secs(5),
        async || {
            let moved = stores.events.rescue(&expired[0], true).await?;
            Ok(moved.filter(|moved| *moved == Transition::Done))
        },
    );
    assert_eq!(rescued.await.unwrap(), Transition::Done);
    let row = stores.events.by_event_id("stuck").await.unwrap().remove(0);
    assert_eq!(
        (row.status, row.crashes, row.attempts),
        (Status::Received, 1, 0)
    );
}

#[tokio::test]
async fn two_rescuers_bring_a_row_back_once() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    claimed(&stores, &mut slot, &terms("dead", Duration::from_millis(1))).await;
    let expired = wait::until("the lease to end", Duration::from_secs(5), async || {
        Ok(stores.events.expired(10).await?.pop())
    });
    let expired = expired.await.unwrap();
    let (one, two) = futures::join!(
        stores.events.rescue(&expired, true),
        stores.events.rescue(&expired, true)
    );
    let done = [one.unwrap(), two.unwrap()]
        .iter()
        .filter(|moved| **moved == Some(Transition::Done))
        .count();
    assert_eq!(done, 1);
    let row = stores.events.by_event_id("a").await.unwrap().remove(0);
    assert_eq!(row.crashes, 1);
}

#[tokio::test]
async fn a_live_lease_is_never_taken_back() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    claimed(&stores, &mut slot, &terms("w", LEASE)).await;
    assert!(stores.events.expired(10).await.unwrap().is_empty());
    let unclaimed = stores
        .events
        .claim(&mut slot, &terms("other", LEASE))
        .await
        .unwrap();
    assert!(unclaimed.is_none());
}

#[tokio::test]
async fn the_ttl_index_can_only_reach_processed_events() {
    let wanted = hookledger_shared::store::Events::wanted();
    let ttl: Vec<&Document> = wanted
        .indexes
        .iter()
        .filter(|index| index.expire_after.is_some())
        .filter_map(|index| index.partial.as_ref())
        .collect();
    assert_eq!(ttl, [&doc! { "status": "processed" }]);
}
