//! Fences: a claim that was taken back can write nothing.

use std::time::Duration;

use hookledger_shared::model::event::Status;
use hookledger_shared::model::lease::Transition;
use hookledger_shared::store::Stores;
use hookledger_shared::store::events::{Ending, Standing};
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use mongodb::ClientSession;
use mongodb::error::Error;

use crate::bed::{self, Fence, LEASE, claimed, terms};

const NOW: Duration = Duration::from_millis(1);

/// Takes an expired claim back, as the rescuer does. (No async closure: this runs inside a
/// transaction's body, which must be `Send`.)
async fn take_back(stores: &Stores) {
    let over = async {
        loop {
            if let Some(expired) = stores.events.expired(10).await.unwrap().pop() {
                break expired;
            }
            tokio::task::yield_now().await;
        }
    };
    let expired = tokio::time::timeout(LEASE, over).await.unwrap();
    let moved = stores.events.rescue(&expired, false).await.unwrap();
    assert_eq!(moved, Some(Transition::Done));
}

#[tokio::test]
async fn a_claim_that_holds_is_fenced_and_committed() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let (_, claim) = claimed(&stores, &mut slot, &terms("w", LEASE)).await;
    let mut work = Fence {
        stores: &stores,
        claim: &claim,
    };
    let ended = slot.in_transaction(LEASE, &mut work).await.unwrap();
    assert!(ended.committed && ended.value);
    assert_eq!(
        stores.events.standing(&claim).await.unwrap(),
        Standing::Committed
    );
}

#[tokio::test]
async fn a_zombies_fence_misses_and_every_ending_of_it_is_lease_lost() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut zombie = Slot::open(&stores).await.unwrap();
    let (_, old) = claimed(&stores, &mut zombie, &terms("zombie", NOW)).await;
    take_back(&stores).await;
    for again in [false, true] {
        if again {
            // The same process may claim it again: the epoch tells them apart.
            claimed(
                &stores,
                &mut Slot::open(&stores).await.unwrap(),
                &terms("zombie", LEASE),
            )
            .await;
        }
        let mut work = Fence {
            stores: &stores,
            claim: &old,
        };
        let ended = zombie.in_transaction(LEASE, &mut work).await.unwrap();
        assert!(!ended.committed && !ended.value);
        assert_eq!(
            stores.events.end(&old, &Ending::Release).await.unwrap(),
            Transition::LeaseLost
        );
        assert_eq!(stores.events.standing(&old).await.unwrap(), Standing::Lost);
    }
}

/// Fences, lets the world move on, then wants to commit.
struct Interrupted<'a> {
    fence: Fence<'a>,
    runs: u32,
}

impl Work for Interrupted<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        self.runs += 1;
        let (stores, claim) = (self.fence.stores, self.fence.claim);
        if self.runs == 1 {
            // A read opens the snapshot; then somebody takes the event back.
            let rows = stores.database().collection::<bson::Document>("events");
            rows.find_one(bson::doc! { "_id": claim.id })
                .session(&mut *session)
                .await?;
            take_back(stores).await;
        }
        self.fence.run(session).await
    }
}

/// Trap 4: the fence is a write, so it conflicts with whoever took the row.
#[tokio::test]
async fn a_row_taken_back_after_the_snapshot_was_opened_can_not_be_committed() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let mut slot = Slot::open(&stores).await.unwrap();
    let (_, claim) = claimed(&stores, &mut slot, &terms("w", NOW)).await;
    let fence = Fence {
        stores: &stores,
        claim: &claim,
    };
    let mut work = Interrupted { fence, runs: 0 };
    let ended = slot.in_transaction(LEASE, &mut work).await.unwrap();
    assert!(
        !ended.committed,
        "a claim that was taken back has committed"
    );
    assert_eq!((ended.reruns, work.runs), (1, 2), "the first run conflicts");
    let row = stores.events.by_event_id("a").await.unwrap().remove(0);
    assert_eq!(row.status, Status::Received);
}
