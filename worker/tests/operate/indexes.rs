//! `indexes plan` and `indexes apply`.

use bson::{Document, doc};
use hookledger_shared::store::Stores;

use crate::bed::Bed;

const PLAN: [&str; 2] = ["indexes", "plan"];
const APPLY: [&str; 2] = ["indexes", "apply"];

impl Bed {
    async fn database_command(&self, command: Document) {
        self.stores.database().run_command(command).await.unwrap();
    }

    async fn make_index(&self, collection: &str, name: &str, key: Document) {
        let index = doc! { "name": name, "key": key };
        let make = doc! { "createIndexes": collection, "indexes": [index] };
        self.database_command(make).await;
    }
}

#[tokio::test]
async fn what_is_missing_is_planned_then_made_once() {
    let bed = Bed::bare().await;
    let planned = bed.run(&[&PLAN[..], &["--json"]].concat()).await.json();
    let wanted: usize = Stores::wanted().iter().map(|one| one.indexes.len()).sum();
    assert_eq!(planned["create"].as_array().unwrap().len(), wanted);
    let names = bed.stores.database().list_collection_names().await;
    assert!(names.unwrap().is_empty(), "a plan changes nothing");

    bed.run(&APPLY)
        .await
        .says(0, &["create    events.identity"]);
    bed.run(&APPLY).await.says(0, &["nothing to make"]);
    bed.run(&PLAN).await.says(0, &["nothing to change"]);
    bed.database_command(doc! { "dropIndexes": "events", "index": "dead" })
        .await;
    bed.run(&PLAN).await.says(0, &["create    events.dead"]);
    bed.run(&APPLY).await.says(0, &["create    events.dead"]);
    bed.run(&PLAN).await.says(0, &["nothing to change"]);
}

#[tokio::test]
async fn an_index_of_somebody_else_is_named_and_left_alone() {
    let bed = Bed::new().await;
    bed.make_index("events", "theirs", doc! { "account": 1 })
        .await;
    for command in [PLAN, APPLY, PLAN] {
        bed.run(&command)
            .await
            .says(0, &["extra     events.theirs"]);
    }
}

#[tokio::test]
async fn a_conflict_ends_with_1_and_says_what_to_do() {
    let bed = Bed::bare().await;
    let keys = doc! { "eventId": 1, "provider": 1, "scope": 1 };
    bed.make_index("events", "identity", keys).await;
    for command in [PLAN, APPLY] {
        let words = ["events.identity", "is not unique", "drop it, then"];
        bed.run(&command).await.says(1, &words);
    }
    let planned = bed.run(&[&PLAN[..], &["--json"]].concat()).await;
    assert_eq!(planned.code, 1);
    assert!(planned.out.contains("\"conflicts\": [\n"), "{planned:?}");
    bed.database_command(doc! { "dropIndexes": "events", "index": "identity" })
        .await;
    bed.run(&APPLY)
        .await
        .says(0, &["create    events.identity"]);
    bed.run(&PLAN).await.says(0, &["nothing to change"]);
}

#[tokio::test]
async fn duplicates_in_the_way_of_a_unique_index_are_named() {
    let bed = Bed::bare().await;
    let events = bed.stores.database().collection::<Document>("events");
    let twin = || doc! { "eventId": "evt_twin", "provider": "stripe", "scope": "default" };
    events.insert_many([twin(), twin()]).await.unwrap();
    let words = ["events.identity", "evt_twin", "remove the duplicates"];
    bed.run(&APPLY).await.says(1, &words);
}

#[tokio::test]
async fn operators_who_apply_at_once_all_succeed() {
    let bed = Bed::bare().await;
    let all = (0..3).map(|_| bed.run(&APPLY));
    for ran in futures::future::join_all(all).await {
        ran.says(0, &[]);
    }
    bed.run(&PLAN).await.says(0, &["nothing to change"]);
}
