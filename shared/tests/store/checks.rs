//! Checks: claimed once at a time, of one mode, through their index; and never planned by
//! somebody whose picture is old.

use bson::{DateTime, Document, doc};
use hookledger_shared::model::lease::Transition;
use hookledger_shared::model::register::Register;
use hookledger_shared::model::subscription::{Check, CheckReason, Subscription};
use hookledger_shared::store::Stores;

use crate::bed::{LEASE, stores};

const HOUR: i64 = 3_600_000;

async fn now(stores: &Stores) -> i64 {
    stores.server_time().await.unwrap().timestamp_millis()
}

fn subscription(id: &str, livemode: bool, due: Option<i64>) -> Subscription {
    let register = doc! { "terminal": false, "created": 1_i64, "events": [] };
    let document = doc! {
        "_id": id, "account": "self", "livemode": livemode, "subscriptionId": id,
        "status": "active", "cancelAtPeriodEnd": false, "terminal": false,
        "provisional": true, "lastEventCreated": 1_i64, "register": register,
        "version": 1_i64,
    };
    let mut subscription: Subscription = bson::deserialize_from_document(document).unwrap();
    assert_eq!(
        subscription.register,
        Register {
            terminal: false,
            created: 1,
            events: vec![]
        }
    );
    subscription.next_check = due.map(|due| Check {
        reason: CheckReason::Provisional,
        due_at: DateTime::from_millis(due),
        tries: 0,
        problem: None,
    });
    subscription
}

async fn insert(stores: &Stores, subscriptions: &[Subscription]) {
    let rows = stores
        .database()
        .collection::<Subscription>("subscriptions");
    rows.insert_many(subscriptions).await.unwrap();
}

async fn claim(stores: &Stores, livemode: bool) -> Option<Subscription> {
    let claimed = stores.subscriptions.claim_check(livemode, LEASE).await;
    claimed.unwrap()
}

#[tokio::test]
async fn the_longest_overdue_of_its_mode_is_taken_once_and_counted() {
    let stores = stores().await;
    let now = now(&stores).await;
    insert(
        &stores,
        &[
            subscription("later", false, Some(now + HOUR)),
            subscription("second", false, Some(now - 1_000)),
            subscription("live", true, Some(now - HOUR)),
            subscription("first", false, Some(now - 2_000)),
            subscription("never", false, None),
        ],
    )
    .await;
    assert_eq!(stores.subscriptions.checks_due(10).await.unwrap(), 3);
    let first = claim(&stores, false).await.unwrap();
    assert_eq!(first.id, "first");
    let check = first.next_check.unwrap();
    assert_eq!(check.tries, 1);
    assert!(check.due_at.timestamp_millis() > now + 20_000, "a lease");
    assert_eq!(claim(&stores, false).await.unwrap().id, "second");
    assert_eq!(claim(&stores, false).await, None);
    assert_eq!(claim(&stores, true).await.unwrap().id, "live");
}

#[tokio::test]
async fn a_check_is_not_planned_by_whom_an_event_or_another_has_overtaken() {
    let stores = stores().await;
    let now = now(&stores).await;
    insert(&stores, &[subscription("one", false, Some(now - 1))]).await;
    let claimed = claim(&stores, false).await.unwrap();
    let rows = stores.database().collection::<Document>("subscriptions");
    let set = async |field: &str, value: bson::Bson| {
        let update = doc! { "$set": { field: value } };
        rows.update_one(doc! { "_id": "one" }, update)
            .await
            .unwrap();
    };
    let plan = async || {
        stores
            .subscriptions
            .plan_check(&claimed, None)
            .await
            .unwrap()
    };
    set("version", 2_i64.into()).await;
    assert_eq!(plan().await, Transition::LeaseLost);
    set("version", 1_i64.into()).await;
    let lease = claimed.next_check.as_ref().unwrap().due_at;
    set("nextCheck.dueAt", DateTime::from_millis(now).into()).await;
    assert_eq!(plan().await, Transition::LeaseLost);
    set("nextCheck.dueAt", lease.into()).await;
    assert_eq!(plan().await, Transition::Done);
    let row = rows.find_one(doc! {}).await.unwrap().unwrap();
    assert_eq!(row.get("nextCheck"), Some(&bson::Bson::Null));
}

#[tokio::test]
async fn one_that_can_not_be_read_holds_nobody_up() {
    let stores = stores().await;
    let now = now(&stores).await;
    let due = DateTime::from_millis(now - 1_000);
    let rows = stores.database().collection::<Document>("subscriptions");
    let broken = doc! { "_id": "broken", "livemode": false, "nextCheck": { "dueAt": due } };
    rows.insert_one(broken).await.unwrap();
    insert(&stores, &[subscription("one", false, Some(now - 1))]).await;
    assert_eq!(claim(&stores, false).await.unwrap().id, "one");
    assert_eq!(claim(&stores, false).await, None);
}

#[tokio::test]
async fn what_is_due_later_is_never_looked_at() {
    let stores = stores().await;
    let now = now(&stores).await;
    let many: Vec<_> = (0..500)
        .map(|n| subscription(&format!("later_{n}"), false, Some(now + HOUR)))
        .collect();
    insert(&stores, &many).await;
    insert(&stores, &[subscription("one", false, Some(now - 1))]).await;
    let database = stores.database();
    database.run_command(doc! { "profile": 2 }).await.unwrap();
    assert_eq!(stores.subscriptions.checks_due(10).await.unwrap(), 1);
    assert!(claim(&stores, false).await.is_some());
    assert!(claim(&stores, false).await.is_none());
    database.run_command(doc! { "profile": 0 }).await.unwrap();
    let seen = database.collection::<Document>("system.profile");
    let ns = format!("{}.subscriptions", database.name());
    let mut asked = 0;
    let mut cursor = seen.find(doc! { "ns": ns }).await.unwrap();
    while cursor.advance().await.unwrap() {
        let entry: Document = cursor.deserialize_current().unwrap();
        let examined = entry.get_i32("keysExamined").unwrap();
        assert!(examined <= 3, "{entry}");
        asked += 1;
    }
    assert_eq!(asked, 3);
}
