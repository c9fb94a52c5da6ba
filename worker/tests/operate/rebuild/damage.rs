//! Documents damaged by hand.

use std::collections::BTreeMap;

use bson::{Bson, Document, doc};
use fastrand::Rng;
use serde_json::{Value, json};

use super::stories::{
    AT, COMPLETED, damage, delete, event, life, lives, processed, row, sale, subscription,
};
use super::{check, is_equal, named, rebuild};
use crate::bed::{Bed, USER};
use crate::letters::PERSONAL;
use crate::scans::{profiled_of, scans};

const COLLECTIONS: [&str; 8] = [
    "subscriptions",
    "customers",
    "checkouts",
    "invoices",
    "payments",
    "purchases",
    "creditEntries",
    "creditAccounts",
];

/// Everything there is but versions and the times of entries.
async fn state(bed: &Bed) -> BTreeMap<String, Document> {
    let mut state = BTreeMap::new();
    for collection in COLLECTIONS {
        for mut document in bed.rows(collection, doc! {}).await {
            let key = format!("{collection} {}", document.get_str("_id").unwrap());
            document.remove("version");
            document.remove("at");
            // A hint with a time of its own.
            document.remove("nextCheck");
            let sorted: BTreeMap<String, Bson> = document.into_iter().collect();
            state.insert(key, sorted.into_iter().collect());
        }
    }
    state
}

async fn sent(bed: &Bed) -> Vec<String> {
    let rows = bed.rows("outbox", doc! { "version": { "$exists": false } });
    let rows = rows.await;
    rows.iter()
        .map(|row| row.get_str("key").unwrap().to_owned())
        .collect()
}

/// One customer with a subscription that is active, and one pack.
async fn one_customer() -> Bed {
    let created = "customer.subscription.created";
    let active = subscription("cus_1", "active");
    let sale = sale("p1", &json!("cus_1"), &json!("user_1"), 1_900);
    let events = [
        event("evt_1", created, AT, &active, &Value::Null),
        event("evt_2", COMPLETED, AT + 1, &sale, &Value::Null),
    ];
    processed(&events.map(|body| row(&body))).await
}

/// Does the damage, and checks that it is found by exactly these names and undone.
async fn found_and_undone(bed: &Bed, damaged: impl Future<Output = ()>, names: &[&str]) {
    let (before, effects) = (state(bed).await, sent(bed).await);
    damaged.await;
    assert_ne!(state(bed).await, before);
    let report = check(bed).await;
    assert_eq!(named(&report, "differences"), names, "{report:#}");
    assert!(!report.to_string().contains(PERSONAL));
    assert_eq!(report["equal"], false);
    assert_ne!(state(bed).await, before, "a check changes nothing");

    let report = rebuild(bed, &[]).await;
    assert_eq!(report["counts"]["repaired"], names.len(), "{report:#}");
    assert_eq!(state(bed).await, before);
    assert_eq!(sent(bed).await, effects, "nothing is sent twice");
    is_equal(bed).await;
}

#[tokio::test]
async fn whatever_was_processed_the_check_says_equal() {
    for seed in 0..4 {
        let bed = processed(&lives(seed, 12)).await;
        assert!(bed.count("events", doc! { "status": "dead" }).await >= 12);
        is_equal(&bed).await;
        assert_eq!(bed.count("audit", doc! {}).await, 0);
    }
}

#[tokio::test]
async fn a_field_changed_by_hand_is_named_and_comes_back() {
    let bed = one_customer().await;
    let key = "self:test:sub_cus_1";
    let flip = damage(
        &bed,
        "subscriptions",
        key,
        doc! { "$set": { "status": "unpaid" } },
    );
    found_and_undone(&bed, flip, &["subscriptions self:test:sub_cus_1 status"]).await;

    let act = bed.rows("audit", doc! {}).await.remove(0);
    assert_eq!(act.get_str("who").unwrap(), USER);
    assert_eq!(act.get_str("what").unwrap(), "rebuild");
    let (before, after) = (act.get_document("before"), act.get_document("after"));
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!(
        before.get_document("fields").unwrap(),
        &doc! { "status": "unpaid" }
    );
    assert_eq!(
        after.get_document("fields").unwrap(),
        &doc! { "status": "active" }
    );
    assert_eq!(
        after.get_i64("version").unwrap(),
        before.get_i64("version").unwrap() + 1
    );
}

#[tokio::test]
async fn a_view_that_changes_back_is_sent_with_a_greater_version() {
    let bed = one_customer().await;
    let key = "self:test:entitlement:cus_1";
    let message = async || bed.rows("outbox", doc! { "key": key }).await.remove(0);
    let before = message().await.get_i64("version").unwrap();
    let customer = "self:test:cus_1";
    let no = doc! { "$set": { "entitlement.entitled": false } };
    let taken = damage(&bed, "customers", customer, no);
    let named = ["customers self:test:cus_1 entitlement.entitled"];
    found_and_undone(&bed, taken, &named).await;
    let after = message().await;
    let version = after.get_i64("version").unwrap();
    assert!(version > before);
    assert!(
        after
            .get_document("payload")
            .unwrap()
            .get_bool("entitled")
            .unwrap()
    );
    let stored = bed
        .rows("customers", doc! { "_id": customer })
        .await
        .remove(0);
    assert_eq!(stored.get_i64("version").unwrap(), version);
    // The customer's row is there again with a version that no consumer has seen.
    let gone = delete(&bed, "customers", doc! { "_id": customer });
    found_and_undone(&bed, gone, &["customers self:test:cus_1 missing"]).await;
    assert!(message().await.get_i64("version").unwrap() > version);
}

#[tokio::test]
async fn a_link_that_was_removed_is_back_and_told() {
    let bed = one_customer().await;
    let unlink = doc! { "$set": { "links": [], "userId": null } };
    let removed = damage(&bed, "customers", "self:test:cus_1", unlink);
    let named = ["customers self:test:cus_1 links,userId"];
    found_and_undone(&bed, removed, &named).await;
}

#[tokio::test]
async fn a_document_that_was_deleted_is_back_and_greets_nobody_again() {
    let bed = one_customer().await;
    for (collection, key) in [
        ("subscriptions", "self:test:sub_cus_1"),
        ("checkouts", "self:test:cs_p1"),
        ("payments", "self:test:pi_p1"),
        ("purchases", "self:test:p1"),
    ] {
        let gone = delete(&bed, collection, doc! { "_id": key });
        found_and_undone(&bed, gone, &[&format!("{collection} {key} missing")]).await;
    }
}

#[tokio::test]
async fn credits_come_back_by_entries_and_the_account_is_their_sum() {
    let bed = one_customer().await;
    let account = "self:test:user_1";
    let moved = damage(
        &bed,
        "creditAccounts",
        account,
        doc! { "$inc": { "balance": 7_i64 } },
    );
    let named = ["creditAccounts self:test:user_1 balance"];
    found_and_undone(&bed, moved, &named).await;

    let gone = delete(&bed, "creditAccounts", doc! { "_id": account });
    found_and_undone(&bed, gone, &["creditAccounts self:test:user_1 missing"]).await;

    let gone = delete(&bed, "creditEntries", doc! { "purchaseId": "p1" });
    let named = [
        "creditEntries self:test:p1 credits",
        "creditAccounts self:test:user_1 balance",
    ];
    found_and_undone(&bed, gone, &named).await;
}

#[tokio::test]
async fn an_entry_too_many_stays_and_is_corrected_by_another() {
    let bed = one_customer().await;
    let mut entry = bed.rows("creditEntries", doc! {}).await.remove(0);
    entry.insert("_id", "self:test:made_up");
    entry.insert("credits", 50_i64);
    let entries = bed
        .stores
        .database()
        .collection::<Document>("creditEntries");
    entries.insert_one(entry).await.unwrap();
    let report = rebuild(&bed, &[]).await;
    assert_eq!(report["equal"], true, "{report:#}");
    let entries = bed.rows("creditEntries", doc! {}).await;
    let mut credits: Vec<_> = entries
        .iter()
        .map(|e| e.get_i64("credits").unwrap())
        .collect();
    credits.sort_unstable();
    assert_eq!(credits, [-50, 50, 100]);
    let account = bed.rows("creditAccounts", doc! {}).await.remove(0);
    assert_eq!(account.get_i64("balance").unwrap(), 100);
    is_equal(&bed).await;
}

#[tokio::test]
async fn everything_lost_at_once_comes_back() {
    let mut random = Rng::with_seed(3);
    let events: Vec<_> = (0..6)
        .flat_map(|number| life(&mut random, number))
        .collect();
    let bed = processed(&events.iter().map(row).collect::<Vec<_>>()).await;
    let (before, effects) = (state(&bed).await, sent(&bed).await);
    for collection in COLLECTIONS {
        delete(&bed, collection, doc! {}).await;
    }
    let report = rebuild(&bed, &[]).await;
    assert_eq!(report["equal"], true, "{report:#}");
    is_equal(&bed).await;
    let after = state(&bed).await;
    let kept = |state: &BTreeMap<String, Document>| {
        // Which entries led to a sum depends on the order of events.
        let mut kept = state.clone();
        kept.retain(|key, _| !key.starts_with("creditEntries"));
        kept
    };
    assert_eq!(kept(&after), kept(&before));
    assert_eq!(sent(&bed).await, effects);
}

#[tokio::test]
async fn a_document_that_can_not_be_read_is_named_and_put_right() {
    let bed = one_customer().await;
    let broken = damage(
        &bed,
        "customers",
        "self:test:cus_1",
        doc! { "$set": { "links": 5 } },
    );
    found_and_undone(&bed, broken, &["customers self:test:cus_1 (unreadable)"]).await;
}

#[tokio::test]
async fn a_repair_that_can_not_be_put_on_record_does_not_happen() {
    let bed = one_customer().await;
    let key = "self:test:sub_cus_1";
    damage(
        &bed,
        "subscriptions",
        key,
        doc! { "$set": { "status": "unpaid" } },
    )
    .await;
    let never = doc! { "collMod": "audit", "validator": { "never": "true" } };
    bed.stores.database().run_command(never).await.unwrap();
    bed.run(&["rebuild"]).await.says(1, &[key]);
    let stored = bed.rows("subscriptions", doc! {}).await.remove(0);
    assert_eq!(stored.get_str("status").unwrap(), "unpaid");
}

#[tokio::test]
async fn whatever_it_reads_it_reads_in_the_order_of_an_index() {
    let bed = processed(&lives(6, 8)).await;
    delete(&bed, "checkouts", doc! {}).await;
    delete(&bed, "creditEntries", doc! { "userId": "user_6000" }).await;
    let work = async {
        let report = rebuild(&bed, &[]).await;
        assert_eq!(report["equal"], true, "{report:#}");
    };
    let all = [&COLLECTIONS[..], &["events", "outbox"]].concat();
    let asked = profiled_of(&bed, &all, work).await;
    assert!(
        asked
            .iter()
            .any(|entry| entry.get_str("op").is_ok_and(|op| op == "query"))
    );
    for entry in asked {
        assert!(!scans(&entry), "{entry}");
        // Inside a transaction the rules' own reads sort the few entries of a purchase.
        let command = entry.get_document("command").unwrap();
        let sorted = entry.get_bool("hasSortStage").unwrap_or(false);
        assert!(!sorted || command.contains_key("autocommit"), "{entry}");
    }
}

#[tokio::test]
async fn so_many_are_shown_and_the_rest_is_counted() {
    let bed = processed(&lives(1, 5)).await;
    delete(&bed, "checkouts", doc! {}).await;
    let ran = bed.run(&["rebuild", "--check", "--limit", "2"]).await;
    ran.says(
        1,
        &["differs   checkouts", "more differences", " 0 repaired"],
    );
    assert_eq!(ran.out.matches("differs   checkouts").count(), 2, "{ran:?}");
    assert!(ran.err.contains("events replayed") || ran.err.contains("replayed"));
    bed.run(&["rebuild", "--chek"])
        .await
        .says(2, &["--chek", "--check"]);
    bed.run(&["rebuild", "--limit", "all"])
        .await
        .says(2, &["--limit"]);
}
