//! What is sent is what docs/semantics.md says is sent, field by field.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::json;

use super::billing::invoice;
use super::money::{charge, dispute, intent, refund};
use super::story::{completed, created, deleted, session, subscription};
use super::world::World;

/// The table, by what its first column says.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/semantics.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, table) = page.split_once("## Payloads").unwrap();
    let mut topics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut above = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.split(" | ");
        let topic = cells.next().unwrap().trim_start_matches("| ");
        let mut fields: BTreeSet<String> = BTreeSet::new();
        let mut depth = 0;
        for (n, part) in cells.next().unwrap().split('`').enumerate() {
            if n % 2 == 0 {
                depth += part.matches('(').count();
                depth -= part.matches(')').count();
            } else if depth == 0 {
                fields.insert(part.to_owned());
            }
        }
        if row.contains("| the same") {
            fields.extend(above.clone());
        }
        above.clone_from(&fields);
        fields.extend(["account".to_owned(), "livemode".to_owned()]);
        topics.insert(topic.replace('`', ""), fields);
    }
    topics
}

#[test]
fn every_topic_carries_the_fields_that_are_documented() {
    let cheap = json!({ "amount_subtotal": 1, "mode": "payment", "metadata": {
        "sku": "pack_100", "purchase_id": "p2",
    } });
    let world = World::after(&[
        completed("e1", 5, session("cs_1", json!({}))),
        created("e2", 10, subscription("sub_1", json!({}))),
        deleted("e3", 20, subscription("sub_1", json!({}))),
        invoice("e4", "invoice.payment_failed", 10, json!({})),
        invoice(
            "e5",
            "invoice.paid",
            11,
            json!({ "status": "paid", "amount_paid": 5 }),
        ),
        intent("e6", 10, json!({})),
        charge("e7", "charge.succeeded", 10, json!({})),
        refund("e8", "refund.created", 20, "re_1", 333, "succeeded"),
        dispute("e9", "charge.dispute.funds_withdrawn", 20, "lost"),
        completed("e10", 30, session("cs_2", cheap)),
    ]);
    let mut documented = documented();
    let messages = world
        .states
        .values()
        .map(|(_, payload)| ("entitlement.changed", payload));
    let once = world.told.iter().map(|(key, payload)| {
        let kind = key.split(':').nth(2).unwrap();
        let topic = match kind {
            "welcome" => "welcome",
            "canceled" => "subscription.canceled",
            "credits" => "credits.granted",
            "reversed" => "credits.reversed",
            "receipt" if payload.contains_key("invoiceId") => "email.receipt of an invoice",
            "receipt" => "email.receipt of a purchase",
            "payment_failed" => "payment.failed",
            "conflict" => "purchase.conflict",
            other => panic!("a key of kind {other}"),
        };
        (topic, payload)
    });
    let mut seen = BTreeSet::new();
    for (topic, payload) in messages.chain(once) {
        let fields: BTreeSet<String> = payload.keys().cloned().collect();
        assert_eq!(documented.get(topic), Some(&fields), "{topic}");
        seen.insert(topic);
    }
    documented.retain(|topic, _| !seen.contains(topic.as_str()));
    assert!(documented.is_empty(), "never sent: {documented:?}");
}
