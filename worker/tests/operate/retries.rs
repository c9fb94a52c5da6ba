//! `dead-letters retry`.

use bson::{Document, doc};
use hookledger_shared::store::Stores;
use serde_json::Value;

use crate::bed::{Bed, Ran, USER};
use crate::letters::{KEY, PERSONAL};

async fn retry(bed: &Bed, more: &[&str]) -> Ran {
    bed.run(&[&["dead-letters", "retry"], more].concat()).await
}

fn count(report: &Value, list: &str) -> usize {
    report[list].as_array().unwrap().len()
}

/// The only row that matches.
async fn row(bed: &Bed, collection: &str, filter: Document) -> Document {
    let mut rows = bed.rows(collection, filter).await;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[tokio::test]
async fn a_retry_begins_a_new_life_and_is_on_record() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    let retried = retry(&bed, &["evt_1", KEY]).await;
    retried.says(
        0,
        &["1 dead event and 1 dead message to retry", "2 retried"],
    );

    for (collection, status) in [("events", "received"), ("outbox", "pending")] {
        let row = row(&bed, collection, doc! {}).await;
        assert_eq!(row.get_str("status").unwrap(), status);
        assert_eq!(row.get_i32("attempts").unwrap(), 0);
        assert_eq!(row.get_i64("epoch").unwrap(), 1, "an epoch never goes back");
        assert!(row.contains_key("dueAt") && !row.contains_key("deadAt"));
        assert!(row.contains_key("lastError"), "it says why it was dead");
    }
    let acts = bed.rows("audit", doc! {}).await;
    assert_eq!(acts.len(), 2);
    for (act, (id, after)) in acts
        .iter()
        .zip([("eventId", "received"), ("key", "pending")])
    {
        assert_eq!(act.get_str("who").unwrap(), USER);
        assert_eq!(act.get_str("what").unwrap(), "dead-letters retry");
        assert!(!act.get_str("from").unwrap().is_empty());
        let before = act.get_document("before").unwrap();
        assert_eq!(before.get_str("status").unwrap(), "dead");
        assert_eq!(before.get_i32("attempts").unwrap(), 1);
        assert!(before.contains_key(id) && before.contains_key("lastError"));
        let stands = act.get_document("after").unwrap();
        assert_eq!(stands.get_str("status").unwrap(), after);
        assert!(!act.to_string().contains(PERSONAL));
    }
}

#[tokio::test]
async fn an_id_in_several_scopes_is_named_and_retried_in_each() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_event("evt_1", "other", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    bed.dead_message(KEY, "crm", "refused").await;
    let report = retry(&bed, &["evt_1", KEY, "evt_1", "--json"]).await.json();
    assert_eq!(count(&report, "found"), 4);
    let named = report["retried"].to_string();
    for name in ["default", "other", "app", "crm"] {
        assert!(named.contains(&format!("\"{name}\"")), "{named}");
    }
    assert_eq!(bed.count("events", doc! { "status": "received" }).await, 2);
    assert_eq!(bed.count("outbox", doc! { "status": "pending" }).await, 2);
}

#[tokio::test]
async fn what_is_not_dead_or_not_there_is_named_and_left_alone() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.message(KEY, "app").await;
    let retried = retry(&bed, &["evt_0", KEY]).await;
    retried.says(1, &["is called evt_0", "is not dead but pending"]);
    assert_eq!(bed.count("audit", doc! {}).await, 0);
    // The others are retried all the same.
    retry(&bed, &["evt_0", "evt_1"])
        .await
        .says(1, &["1 retried"]);
    retry(&bed, &["evt_1"])
        .await
        .says(1, &["is not dead but received"]);
    assert_eq!(bed.count("audit", doc! {}).await, 1);
}

#[tokio::test]
async fn a_dry_run_says_the_count_and_changes_nothing() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    for which in [&["--all"][..], &["evt_1", KEY]] {
        let dry = retry(&bed, &[which, &["--dry-run"]].concat()).await;
        dry.says(
            0,
            &["1 dead event and 1 dead message to retry", "would retry"],
        );
        let report = retry(&bed, &[which, &["--dry-run", "--json"]].concat()).await;
        let report = report.json();
        assert_eq!((count(&report, "found"), count(&report, "retried")), (2, 0));
    }
    assert_eq!(bed.count("events", doc! { "status": "dead" }).await, 1);
    assert_eq!(bed.count("outbox", doc! { "status": "dead" }).await, 1);
    assert_eq!(bed.count("audit", doc! {}).await, 0);
}

#[tokio::test]
async fn a_filter_retries_what_it_names_and_nothing_else() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_event("evt_2", "default", "crashed").await;
    bed.dead_message(KEY, "app", "refused").await;
    let report = retry(&bed, &["--all", "--kind", "crashed", "--json"]).await;
    assert_eq!(report.json()["retried"][0]["eventId"], "evt_2");
    assert_eq!(bed.count("events", doc! { "status": "dead" }).await, 1);
    retry(&bed, &["--all"]).await.says(0, &["2 retried"]);
    retry(&bed, &["--all"]).await.says(0, &["0 retried"]);
    assert_eq!(bed.count("audit", doc! {}).await, 3);
}

#[tokio::test]
async fn a_retry_that_can_not_be_put_on_record_does_not_happen() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    let never = doc! { "collMod": "audit", "validator": { "never": "true" } };
    bed.stores.database().run_command(never).await.unwrap();
    retry(&bed, &["evt_1"])
        .await
        .says(1, &["evt_1", "0 retried"]);
    assert_eq!(bed.count("events", doc! { "status": "dead" }).await, 1);
}

#[tokio::test]
async fn operators_who_retry_the_same_at_once_do_it_once() {
    let bed = Bed::new().await;
    for number in 0..8 {
        bed.dead_event(&format!("evt_{number}"), "default", "fault")
            .await;
    }
    let all = (0..4).map(|_| retry(&bed, &["--all", "--json"]));
    let reports = futures::future::join_all(all).await;
    let done: usize = reports
        .iter()
        .map(|ran| count(&ran.json(), "retried"))
        .sum();
    assert_eq!(done, 8);
    assert_eq!(bed.count("audit", doc! {}).await, 8);
    assert_eq!(bed.count("events", doc! { "status": "received" }).await, 8);
}

#[tokio::test]
async fn a_retry_works_on_a_database_without_an_audit_log_yet() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    let audit = bed.stores.database().collection::<Document>("audit");
    audit.drop().await.unwrap();
    retry(&bed, &["evt_1"]).await.says(0, &["1 retried"]);
    bed.stores.preflight(&Stores::wanted()).await.unwrap();
    assert_eq!(bed.count("audit", doc! {}).await, 1);
}
