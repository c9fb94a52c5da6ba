//! Two transactions about one customer at the same moment: one has read and not written
//! yet when the other commits. Neither may miss what the other did.

use hookledger_shared::store::Stores;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use mongodb::ClientSession;
use mongodb::error::Error;
use serde_json::json;

use super::bed::{self, LIMIT, Taking};
use crate::event::load;
use crate::handler::Input;
use crate::handler::tests::story::{
    Event, completed, created, deleted, items, session, subscription, updated,
};
use crate::handler::tests::world::World;

/// A transaction that reads, lets the other one happen as a whole, and only then writes.
struct Late<'a> {
    mine: Taking<'a>,
    other: Option<(&'a mut Slot, Taking<'a>)>,
}

impl Work for Late<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let facts = load::load(self.mine.stores, session, self.mine.input).await?;
        if let Some((slot, mut other)) = self.other.take() {
            slot.in_transaction(LIMIT, &mut other).await.unwrap();
        }
        self.mine.write(session, &facts).await
    }
}

/// Takes both events interleaved. Answers how often the late one had to run again.
async fn at_once(stores: &Stores, late: &Event, other: &Event) -> u32 {
    let rules = World::rules();
    let events = [bed::ledger(late), bed::ledger(other)];
    let inputs = events
        .each_ref()
        .map(|event| Input::read(event, &rules).unwrap());
    let taking = |which: usize| Taking {
        stores,
        event: &events[which],
        input: &inputs[which],
        rules: &rules,
    };
    let mut slots = [
        Slot::open(stores).await.unwrap(),
        Slot::open(stores).await.unwrap(),
    ];
    let [mine, others] = &mut slots;
    let mut work = Late {
        mine: taking(0),
        other: Some((others, taking(1))),
    };
    mine.in_transaction(LIMIT, &mut work).await.unwrap().reruns
}

/// What both orders of two events after `before` come to, each at once with the other.
async fn miss_nothing(before: &[Event], one: &Event, other: &Event) {
    for (late, early) in [(one, other), (other, one)] {
        let stores = bed::stores().await;
        let first: Vec<&Event> = before.iter().collect();
        bed::deliver(&stores, &first, 1).await;
        let reruns = at_once(&stores, late, early).await;
        assert_eq!(reruns, 1, "{} and {} did not conflict", late.id, early.id);
        let truth = World::after(before.iter().chain([one, other]));
        assert_eq!(bed::world(&stores).await.end(), truth.end());
    }
}

/// The link makes the welcome of a subscription due that it can't see yet; the subscription
/// changes nothing of what the customer may use.
#[tokio::test]
async fn a_link_and_a_subscription_at_once_miss_nothing_of_each_other() {
    let before = [created(
        "e1",
        10,
        subscription("sub_1", json!({ "items": items(9_000) })),
    )];
    let link = completed("e2", 10, session("cs_1", json!({})));
    let second = created("e3", 10, subscription("sub_2", json!({})));
    miss_nothing(&before, &link, &second).await;
}

/// One ends and another becomes active: whoever sees only its own is wrong about what the
/// customer may use.
#[tokio::test]
async fn two_subscriptions_that_change_at_once_are_both_seen() {
    let incomplete = json!({ "status": "incomplete" });
    let first = || subscription("sub_1", json!({ "items": items(9_000) }));
    let before = [
        completed("e1", 5, session("cs_1", json!({}))),
        created("e2", 5, first()),
        created("e3", 5, subscription("sub_2", incomplete.clone())),
    ];
    let ends = deleted("e4", 10, first());
    let begins = updated("e5", 10, subscription("sub_2", json!({})), incomplete);
    miss_nothing(&before, &ends, &begins).await;
}
