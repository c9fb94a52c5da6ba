//! Sessions and deadlines: a claim and its transaction share a session, and one deadline
//! stands around the whole.

use std::time::{Duration, Instant};

use bson::doc;
use futures::future::join_all;
use hookledger_dev::mongo::{FailPoint, Members, ReplicaSet, ReplicaSetOptions, shared};
use hookledger_shared::model::lease::Transition;
use hookledger_shared::store::Stores;
use hookledger_shared::store::events::{Ending, Standing};
use hookledger_shared::store::transaction::{Slot, TransactionError};
use hookledger_shared::task;

use crate::bed::{self, Fence, LEASE, claimed, terms};

const CLAIMERS: usize = 8;
const EVENTS: usize = 600;

/// Claims until nothing is left; counts the fences that missed their own claim.
async fn claim_and_fence(stores: &Stores, number: usize) -> usize {
    let mut slot = Slot::open(stores).await.unwrap();
    let terms = terms(&format!("worker-{number}"), LEASE);
    let mut missed = 0;
    while let Some(event) = stores.events.claim(&mut slot, &terms).await.unwrap() {
        let claim = event.claim().unwrap();
        let mut work = Fence {
            stores,
            claim: &claim,
        };
        let ended = slot.in_transaction(LEASE, &mut work).await.unwrap();
        missed += usize::from(!ended.value);
    }
    missed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_three_members_no_fence_ever_misses_its_own_claim() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::Three))
        .await
        .unwrap();
    let stores = bed::stores_at(&set.uri(), "sessions").await;
    bed::insert(&stores, (0..EVENTS).map(|n| format!("evt_{n}"))).await;
    let claimers = (0..CLAIMERS).map(|number| {
        let stores = stores.clone();
        async move { claim_and_fence(&stores, number).await }
    });
    let missed: usize = join_all(claimers).await.into_iter().sum();
    assert_eq!(missed, 0);

    set.stop().await.unwrap();
}

/// What the rule is for: a claim (w:1) answers while an older write still holds a hole in
/// the oplog open, and a snapshot ends before the hole. The claim's own session waits until
/// it is closed; another session reads a snapshot without the claim.
#[tokio::test]
async fn another_session_can_miss_a_claim_that_its_own_session_sees() {
    let set = ReplicaSet::start(&ReplicaSetOptions::for_tests(Members::One))
        .await
        .unwrap();
    let stores = bed::stores_at(&set.uri(), "sessions").await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let others = stores.database().collection::<bson::Document>("others");
    others.insert_one(doc! {}).await.unwrap();
    let mut claimer = Slot::open(&stores).await.unwrap();
    let mut other = Slot::open(&stores).await.unwrap();

    let namespace = format!("{}.others", stores.database().name());
    let hole = FailPoint::named("hangAfterCollectionInserts").with("collectionNS", namespace);
    let hole = hole.arm(&set.uri()).await.unwrap();
    let hanging = task::spawn("an insert that hangs", async move {
        others.insert_one(doc! {}).await
    });
    hole.wait_entered(1, Duration::from_secs(10)).await.unwrap();

    let (_, claim) = claimed(&stores, &mut claimer, &terms("w", LEASE)).await;
    let mut work = Fence {
        stores: &stores,
        claim: &claim,
    };
    let missed = other
        .in_transaction(Duration::from_secs(5), &mut work)
        .await
        .unwrap();
    assert!(
        !missed.value,
        "another session saw the claim: the rule has lost its reason"
    );

    let mut work = Fence {
        stores: &stores,
        claim: &claim,
    };
    let (closed, seen) = futures::join!(hole.off(), claimer.in_transaction(LEASE, &mut work));
    closed.unwrap();
    assert!(
        seen.unwrap().committed,
        "its own session waits for its own claim"
    );
    hanging.await.unwrap().unwrap();
    set.stop().await.unwrap();
}

#[tokio::test]
async fn when_the_deadline_fires_no_transaction_is_left_open() {
    let uri = shared::uri().await.unwrap();
    let stores = bed::stores_at(&uri, "deadline").await;
    let bystander = bed::again(&stores, &uri, "bystander").await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let (_, claim) = claimed(&stores, &mut slot, &terms("w", LEASE)).await;
    // The fence goes through and locks the row; the second write hangs.
    let point = FailPoint::on_commands(["update"])
        .app_name("deadline")
        .block(Duration::from_secs(20))
        .skip(1)
        .arm(&uri)
        .await
        .unwrap();
    let mut work = Fence {
        stores: &stores,
        claim: &claim,
    };
    let limit = Duration::from_millis(700);
    let ended = slot.in_transaction(limit, &mut work).await;
    assert!(
        matches!(ended, Err(TransactionError::Deadline { .. })),
        "{ended:?}"
    );
    assert!(slot.is_spent());
    point.off().await.unwrap();

    // The row is ours and free: a plain write gets through without waiting for a lock.
    assert_eq!(
        bystander.events.standing(&claim).await.unwrap(),
        Standing::Held
    );
    let asked = Instant::now();
    let released = bystander
        .events
        .end(&claim, &Ending::Release)
        .await
        .unwrap();
    assert_eq!(released, Transition::Done);
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "it waited for a lock: {:?}",
        asked.elapsed()
    );
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_known_by_asking_the_row() {
    let uri = shared::uri().await.unwrap();
    for (name, code, committed) in [("unlabelled", 8000, false), ("out-of-time", 50, false)] {
        let stores = bed::stores_at(&uri, name).await;
        let bystander = bed::again(&stores, &uri, "bystander").await;
        bed::insert(&stores, ["a".to_owned()]).await;
        let mut slot = Slot::open(&stores).await.unwrap();
        let (_, claim) = claimed(&stores, &mut slot, &terms("w", LEASE)).await;
        let point = FailPoint::on_commands(["commitTransaction"])
            .app_name(name)
            .error_code(code)
            .times(1)
            .arm(&uri)
            .await
            .unwrap();
        let mut work = Fence {
            stores: &stores,
            claim: &claim,
        };
        let ended = slot.in_transaction(LEASE, &mut work).await;
        assert!(
            matches!(ended, Err(TransactionError::Unknown(_))),
            "{name}: {ended:?}"
        );
        point.off().await.unwrap();
        let standing = bystander.events.standing(&claim).await.unwrap();
        assert_eq!(standing == Standing::Committed, committed, "{name}");
    }
}

#[tokio::test]
async fn a_commit_that_happened_but_was_not_acknowledged_counts_once() {
    let uri = shared::uri().await.unwrap();
    let stores = bed::stores_at(&uri, "lost-answer").await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let (_, claim) = claimed(&stores, &mut slot, &terms("w", LEASE)).await;
    let point = FailPoint::on_commands(["commitTransaction"])
        .app_name("lost-answer")
        .write_concern_timeout()
        .times(1)
        .arm(&uri)
        .await
        .unwrap();
    let mut work = Fence {
        stores: &stores,
        claim: &claim,
    };
    let ended = slot.in_transaction(LEASE, &mut work).await.unwrap();
    point.off().await.unwrap();
    assert!(ended.committed);
    assert_eq!(ended.reruns, 0, "the commit was repeated, not the body");
}
