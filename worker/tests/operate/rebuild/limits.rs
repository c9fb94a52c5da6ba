//! What the ledger can't tell is reported and left alone.

use bson::oid::ObjectId;
use bson::{Document, doc};
use serde_json::{Value, json};

use super::stories::{
    AT, COMPLETED, damage, delete, drain, event, lives, processed, row, sale, subscription,
};
use super::{check, is_equal, named, rebuild};
use crate::bed::Bed;

const CREATED: &str = "customer.subscription.created";

async fn two_customers() -> Bed {
    let events = ["cus_old", "cus_new"].into_iter().flat_map(|customer| {
        let active = subscription(customer, "active");
        let ended = subscription(customer, "canceled");
        let sold = sale(customer, &json!(customer), &json!("user_1"), 1_900);
        let id = |n: u8| format!("evt_{customer}_{n}");
        let deleted = "customer.subscription.deleted";
        [
            event(&id(1), CREATED, AT, &active, &Value::Null),
            event(&id(2), COMPLETED, AT, &sold, &Value::Null),
            event(&id(3), deleted, AT + 9, &ended, &Value::Null),
        ]
    });
    processed(&events.map(|body| row(&body)).collect::<Vec<_>>()).await
}

#[tokio::test]
async fn what_is_older_than_the_ledger_is_reported_and_left_alone() {
    let bed = two_customers().await;
    let all = async || {
        let mut all = Vec::new();
        for collection in ["subscriptions", "customers", "purchases", "creditEntries"] {
            all.extend(bed.rows(collection, doc! {}).await);
        }
        all
    };
    let before = all().await;
    // All but its end has expired: what once was must not be forgotten.
    let expired = doc! { "eventId": { "$in": ["evt_cus_old_1", "evt_cus_old_2"] } };
    delete(&bed, "events", expired).await;
    for report in [check(&bed).await, rebuild(&bed, &[]).await] {
        assert_eq!(report["equal"], true, "{report:#}");
        let left = named(&report, "notRebuildable");
        for document in [
            "subscriptions self:test:sub_cus_old older_than_the_ledger",
            "customers self:test:cus_old older_than_the_ledger",
            "checkouts self:test:cs_cus_old older_than_the_ledger",
            "payments self:test:pi_cus_old older_than_the_ledger",
            "purchases self:test:cus_old older_than_the_ledger",
            "creditEntries self:test:cus_old older_than_the_ledger",
        ] {
            assert!(
                left.iter().any(|one| one == document),
                "{document}: {left:#?}"
            );
        }
        assert!(!left.iter().any(|one| one.contains("cus_new")), "{left:#?}");
    }
    assert_eq!(all().await, before);
    // A balance needs no ledger.
    let wrong = doc! { "$set": { "balance": 1_i64 } };
    damage(&bed, "creditAccounts", "self:test:user_1", wrong).await;
    let report = rebuild(&bed, &[]).await;
    assert_eq!(named(&report, "differences").len(), 1);
    let account = bed.rows("creditAccounts", doc! {}).await.remove(0);
    assert_eq!(account.get_i64("balance").unwrap(), 200);
}

#[tokio::test]
async fn an_event_that_can_not_be_read_is_reported_and_nothing_is_undone_because_of_it() {
    let bed = two_customers().await;
    let events = bed.stores.database().collection::<Document>("events");
    for (id, update) in [
        ("evt_cus_old_1", doc! { "$set": { "body": "{" } }),
        ("evt_cus_old_2", doc! { "$set": { "epoch": "x" } }),
    ] {
        let changed = events.update_one(doc! { "eventId": id }, update).await;
        assert_eq!(changed.unwrap().modified_count, 1);
    }
    let report = rebuild(&bed, &[]).await;
    let unreadable = report["unreadable"].as_array().unwrap();
    let ids: Vec<_> = unreadable
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["evt_cus_old_1", "evt_cus_old_2"]);
    assert_eq!(report["counts"]["differences"], 0, "{report:#}");
    let left = named(&report, "notRebuildable").join("\n");
    assert!(left.contains("sub_cus_old unreadable_event"), "{left}");
    assert!(!left.contains("cus_new"), "{left}");
    assert_eq!(bed.count("audit", doc! {}).await, 0);
}

#[tokio::test]
async fn dead_letters_that_recorded_facts_are_replayed() {
    let no_user = (Value::Null, Value::Null);
    let guest = sale("guest", &no_user.0, &no_user.1, 1_900);
    let wrong = sale("wrong", &json!("cus_1"), &json!("user_1"), 1);
    let mut unknown = sale("unknown", &json!("cus_1"), &json!("user_1"), 1_900);
    unknown["metadata"]["sku"] = json!("pack_900");
    let events = [guest, wrong, unknown];
    let events = events.iter().enumerate();
    let rows = events.map(|(n, sale)| {
        row(&event(
            &format!("evt_{n}"),
            COMPLETED,
            AT,
            sale,
            &Value::Null,
        ))
    });
    let bed = processed(&rows.collect::<Vec<_>>()).await;
    for kind in ["unlinked_purchase", "amount_mismatch", "unknown_sku"] {
        let dead = doc! { "status": "dead", "lastError.kind": kind };
        assert_eq!(bed.count("events", dead).await, 1, "{kind}");
    }
    is_equal(&bed).await;
    // The catalogue learns the pack; until its dead letter is retried nothing is granted.
    let text = std::fs::read_to_string(bed.config()).unwrap();
    let more = "[catalogue.pack_900]\ncredits = 900\namount = 1900\ncurrency = \"usd\"\n";
    bed.configure(&format!("{text}{more}"));
    is_equal(&bed).await;
    // Retried, and on its way: what it recorded still counts.
    bed.run(&["dead-letters", "retry", "--all"])
        .await
        .says(0, &["3 retried"]);
    is_equal(&bed).await;
    drain(&bed).await;
    is_equal(&bed).await;
    assert_eq!(bed.count("purchases", doc! { "granted": 900_i64 }).await, 1);
    // What it recorded is found when it is lost.
    delete(&bed, "checkouts", doc! { "_id": "self:test:cs_guest" }).await;
    let report = rebuild(&bed, &[]).await;
    assert_eq!(
        named(&report, "differences"),
        ["checkouts self:test:cs_guest missing"]
    );
    is_equal(&bed).await;
}

#[tokio::test]
async fn a_price_that_changed_undoes_no_purchase() {
    let bed = processed(&lives(5, 3)).await;
    let before = bed.rows("purchases", doc! {}).await;
    let text = std::fs::read_to_string(bed.config()).unwrap();
    for other in [
        text.replace("amount = 1900", "amount = 2500"),
        text.replace("credits = 100", "credits = 150"),
        text.replace("[catalogue.pack_100]", "[catalogue.pack_100_2027]"),
    ] {
        assert_ne!(other, text);
        bed.configure(&other);
        let report = rebuild(&bed, &[]).await;
        assert_eq!(report["counts"]["differences"], 0, "{report:#}");
        let because = &report["counts"]["notRebuildableBecause"];
        assert!(
            because["catalogue_changed"].as_u64().unwrap() > 0,
            "{report:#}"
        );
        assert_eq!(because.as_object().unwrap().len(), 1, "{report:#}");
    }
    assert_eq!(bed.rows("purchases", doc! {}).await, before);
    bed.configure(&text);
    is_equal(&bed).await;
}

#[tokio::test]
async fn of_an_object_from_before_a_ledger_that_expires_nothing_is_undone() {
    let day = 86_400;
    let now = hookledger_shared::clock::unix_seconds();
    let events = [("cus_old", now - 400 * day), ("cus_new", now - 10 * day)];
    let events = events.map(|(customer, made)| {
        let mut active = subscription(customer, "active");
        active["created"] = json!(made);
        let kind = "customer.subscription.updated";
        row(&event(
            &format!("evt_{customer}"),
            kind,
            now,
            &active,
            &Value::Null,
        ))
    });
    let bed = processed(&events).await;
    for customer in ["cus_old", "cus_new"] {
        let key = format!("self:test:sub_{customer}");
        // As older news, that has expired since, would have left it; or as damage would.
        let canceled = doc! { "$set": { "canceled": true } };
        damage(&bed, "subscriptions", &key, canceled).await;
    }
    // While the ledger is young, nothing of it can have expired.
    assert_eq!(named(&check(&bed).await, "differences").len(), 2);
    // The default retention is 90 days.
    ids_anew(&bed, |n| id_at(now - 89 * day, n)).await;
    let report = rebuild(&bed, &[]).await;
    let (new, old) = (
        "subscriptions self:test:sub_cus_new",
        "subscriptions self:test:sub_cus_old",
    );
    assert_eq!(named(&report, "differences"), [format!("{new} canceled")]);
    let left = [format!("{old} older_than_the_ledger")];
    assert_eq!(named(&report, "notRebuildable"), left);
}

fn id_at(seconds: i64, n: usize) -> ObjectId {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&u32::try_from(seconds).unwrap().to_be_bytes());
    bytes[4..].copy_from_slice(&n.to_be_bytes());
    ObjectId::from_bytes(bytes)
}

/// Gives the ledger's rows these ids, so that it is older, or in another order.
async fn ids_anew(bed: &Bed, id: impl Fn(usize) -> ObjectId) {
    let rows = bed.rows("events", doc! {}).await;
    let events = bed.stores.database().collection::<Document>("events");
    events.delete_many(doc! {}).await.unwrap();
    for (n, mut row) in rows.into_iter().enumerate() {
        row.insert("_id", id(n));
        events.insert_one(row).await.unwrap();
    }
}

#[tokio::test]
async fn what_depends_on_order_is_left_alone() {
    let linked = |id: &str, user: &str, at| {
        let mut object = sale(id, &json!("cus_1"), &json!(user), 1_900);
        object["mode"] = json!("subscription");
        object["metadata"] = json!({});
        event(&format!("evt_{id}"), COMPLETED, at, &object, &Value::Null)
    };
    let bought = sale("p1", &json!("cus_1"), &Value::Null, 1_900);
    let events = [
        linked("one", "user_1", AT),
        event("evt_p1", COMPLETED, AT, &bought, &Value::Null),
        linked("two", "user_2", AT + 1),
    ];
    let bed = processed(&[]).await;
    for body in &events {
        bed.insert(&[row(body)]).await;
        drain(&bed).await;
    }
    is_equal(&bed).await;
    // Replayed in the other order the purchase would be the second user's.
    ids_anew(&bed, |n| id_at(AT, 9 - n)).await;
    let report = rebuild(&bed, &[]).await;
    let left = named(&report, "notRebuildable");
    let because = ["purchases self:test:p1", "creditEntries self:test:p1"];
    assert_eq!(left, because.map(|one| format!("{one} links_in_conflict")));
    assert_eq!(report["counts"]["differences"], 0, "{report:#}");
    let account = bed.rows("creditAccounts", doc! {}).await.remove(0);
    assert_eq!(account.get_str("userId").unwrap(), "user_1");
}

#[tokio::test]
async fn order_is_no_difference() {
    // Two purchases claim one payment; the younger claim comes first and is told so.
    let mut claims = ["p_young", "p_old"].map(|purchase| {
        let mut sale = sale(purchase, &json!("cus_1"), &json!("user_1"), 1_900);
        sale["payment_intent"] = json!("pi_1");
        sale
    });
    for _ in 0..2 {
        claims.reverse();
        let at = |sale: &Value| if sale["id"] == "cs_p_old" { AT } else { AT + 5 };
        let bed = processed(&[]).await;
        for sale in &claims {
            let id = format!("evt_{}", sale["id"].as_str().unwrap());
            bed.insert(&[row(&event(&id, COMPLETED, at(sale), sale, &Value::Null))])
                .await;
            drain(&bed).await;
        }
        // The ledger's order is not the order of processing.
        ids_anew(&bed, |n| id_at(AT, 9 - n)).await;
        is_equal(&bed).await;
    }
}
