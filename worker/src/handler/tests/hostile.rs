//! Bodies nobody would send, or somebody would on purpose: an answer each, never a panic.

use fastrand::Rng;
use serde_json::{Value, json};

use super::super::RejectKind;
use super::billing::{invoice, schedule};
use super::money::{charge, dispute, intent, refund};
use super::story::{completed, created, read, session, subscription, updated};
use super::world::World;

fn values() -> Vec<Value> {
    let deep = (0..60).fold(json!({}), |inner, _| json!({ "data": [inner] }));
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1.5e300),
        json!(""),
        json!("$set"),
        json!("x".repeat(5_000)),
        json!("\u{0}"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "id": {} }),
        json!({ "$oid": "507f1f77bcf86cd799439011", "a.b": 1, "": 2 }),
        json!({ "object": "list", "data": [null, 1, "x", {}, { "current_period_end": "soon" }] }),
        deep,
    ]
}

/// Puts `value` in one place of `body` after another.
fn replaced(body: &Value, value: &Value, each: &mut impl FnMut(Value)) {
    fn paths(value: &Value, path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        if let Value::Object(fields) = value {
            for (name, value) in fields {
                paths(value, &format!("{path}/{name}"), all);
            }
        }
        if let Value::Array(values) = value {
            for (index, value) in values.iter().enumerate() {
                paths(value, &format!("{path}/{index}"), all);
            }
        }
    }
    let mut all = Vec::new();
    paths(body, "", &mut all);
    for path in all {
        let mut body = body.clone();
        if let Some(place) = body.pointer_mut(&path) {
            *place = value.clone();
            each(body);
        }
    }
}

#[test]
fn any_value_in_any_place_is_read_or_refused() {
    let rules = World::rules();
    let pack = json!({ "sku": "pack_100", "purchase_id": "p", "quantity": "2" });
    let paid = json!({ "mode": "payment", "payment_intent": "pi_1", "metadata": pack });
    let bodies = [
        created("e", 10, subscription("sub_1", json!({}))).body,
        updated(
            "e",
            10,
            subscription("sub_1", json!({})),
            json!({ "items": {}, "status": "x" }),
        )
        .body,
        completed("e", 10, session("cs_1", paid)).body,
        invoice("e", "invoice.payment_failed", 10, json!({})).body,
        schedule("e", "subscription_schedule.updated", 10, json!({}))
            .from(json!({ "phases": [] }))
            .body,
        intent("e", 10, json!({})).body,
        charge(
            "e",
            "charge.refunded",
            10,
            json!({ "refunds": { "data": [{ "id": "re", "amount": 1 }] }, "amount_refunded": 9 }),
        )
        .body,
        refund("e", "refund.updated", 10, "re", 333, "succeeded").body,
        dispute("e", "charge.dispute.funds_withdrawn", 10, "lost").body,
    ];
    let (mut accepted, mut refused) = (0, 0);
    for body in &bodies {
        for value in values() {
            replaced(body, &value, &mut |body| {
                let mut world = World::default();
                match read("e", body.to_string().as_bytes(), &rules) {
                    Ok(input) => {
                        world.deliver(&input, &rules);
                        accepted += 1;
                    }
                    Err(rejection) => {
                        assert_eq!(rejection.kind, RejectKind::Unreadable);
                        refused += 1;
                    }
                }
            });
        }
    }
    assert!(
        accepted > 500 && refused > 100,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn bytes_that_are_no_event_are_refused() {
    let rules = World::rules();
    let body = created("e", 10, subscription("sub_1", json!({})))
        .body
        .to_string();
    let mut random = Rng::with_seed(3);
    for cut in 0..body.len() {
        assert!(read("e", &body.as_bytes()[..cut], &rules).is_err());
        let mut flipped = body.clone().into_bytes();
        flipped[cut] = random.u8(..);
        // Either answer is right; that there is one is the promise.
        let _ = read("e", &flipped, &rules);
    }
    let nested = "[".repeat(100_000);
    for body in [
        &b""[..],
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        nested.as_bytes(),
    ] {
        assert!(read("e", body, &rules).is_err());
    }
}
