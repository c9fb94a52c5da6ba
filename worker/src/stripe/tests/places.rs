//! Fields in all their places, and what takes their place when they are absent.

use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::subscription::SubscriptionImage;
use serde_json::{Value, json};

use super::super::{Envelope, Unreadable, charge, reversal, session, subscription};

fn envelope(object: Value) -> Envelope {
    let body = json!({
        "id": "evt", "type": "x", "created": 1, "livemode": true, "data": { "object": object },
    });
    Envelope::parse("evt", body.to_string().as_bytes()).unwrap()
}

fn image(object: Value) -> SubscriptionImage {
    subscription::read(&envelope(object), &MetadataNames::default())
        .unwrap()
        .after
}

#[test]
fn the_period_that_ends_last_counts() {
    let item = |start, end| json!({ "current_period_start": start, "current_period_end": end });
    let items = json!({ "data": [item(1, 5), item(2, 9), item(3, 7), {}] });
    let read =
        image(json!({ "id": "s", "status": "active", "items": items, "current_period_end": 99 }));
    assert_eq!((read.period_start, read.period_end), (Some(2), Some(9)));
}

#[test]
fn an_expanded_customer_or_a_deleted_one_is_still_its_id() {
    for customer in [
        json!("cus_1"),
        json!({ "id": "cus_1", "object": "customer", "email": "x@example.com" }),
        json!({ "id": "cus_1", "object": "customer", "deleted": true }),
    ] {
        let read = image(json!({ "id": "s", "status": "active", "customer": customer }));
        assert_eq!(read.customer_id.as_deref(), Some("cus_1"));
    }
}

#[test]
fn a_plan_is_the_products_word_or_the_lookup_key_or_the_price() {
    let full = json!({
        "id": "s", "status": "active", "metadata": { "plan": "word" }, "plan": { "id": "top" },
        "items": { "data": [{
            "price": { "id": "price", "lookup_key": "key" }, "plan": { "id": "plan" },
        }] },
    });
    let mut object = full;
    for (plan, gone) in [
        (Some("word"), "/metadata/plan"),
        (Some("key"), "/items/data/0/price/lookup_key"),
        (Some("price"), "/items/data/0/price"),
        (Some("plan"), "/items/data/0/plan"),
        (Some("top"), "/plan"),
        (None, "/plan"),
    ] {
        assert_eq!(image(object.clone()).plan.as_deref(), plan);
        *object.pointer_mut(gone).unwrap() = Value::Null;
    }
}

#[test]
fn money_is_known_by_its_payment_intent_else_by_its_charge() {
    let names = MetadataNames::default();
    let charge = |intent: Value| {
        let object = json!({ "id": "ch", "object": "charge", "payment_intent": intent });
        charge::read(&envelope(object), &names)
            .unwrap()
            .paid
            .payment_id
    };
    let refund = |intent: Value| {
        let object = json!({
            "id": "re", "object": "refund", "amount": 1, "charge": { "id": "ch" },
            "payment_intent": intent,
        });
        reversal::read(&envelope(object), "refund")
            .unwrap()
            .payment_id
    };
    for (intent, known) in [
        (json!("pi"), "pi"),
        (json!({ "id": "pi", "object": "payment_intent" }), "pi"),
        (Value::Null, "ch"),
    ] {
        assert_eq!(charge(intent.clone()), known);
        assert_eq!(refund(intent), known);
    }
    for (missing, field) in [
        (json!({ "id": "re", "charge": "ch" }), "data.object.amount"),
        (
            json!({ "id": "re", "charge": "ch", "amount": -1 }),
            "data.object.amount",
        ),
        (json!({ "id": "re", "amount": 1 }), "data.object.charge"),
    ] {
        let read = reversal::read(&envelope(missing), "refund");
        assert_eq!(read, Err(Unreadable::Field(field)));
    }
}

#[test]
fn only_a_charge_that_was_paid_and_captured_took_money() {
    let captured = |fields: Value| {
        let mut object = json!({ "id": "ch", "amount": 9, "paid": true, "captured": true });
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
            object.extend(fields);
        }
        charge::read(&envelope(object), &MetadataNames::default())
            .unwrap()
            .paid
            .captured
    };
    assert_eq!(captured(json!({})), Some(9));
    assert_eq!(captured(json!({ "amount_captured": 4 })), Some(4));
    assert_eq!(captured(json!({ "captured": false })), None);
    assert_eq!(
        captured(json!({ "paid": false, "amount_captured": 9 })),
        None
    );
}

#[test]
fn the_products_names_for_its_metadata_are_used() {
    let names = MetadataNames {
        user_id: "account".to_owned(),
        ..MetadataNames::default()
    };
    let object = json!({
        "id": "cs", "metadata": { "account": "a", "user_id": "b" }, "client_reference_id": "c",
    });
    let user = |object: Value| {
        session::read(&envelope(object), &names)
            .unwrap()
            .after
            .user_id
    };
    assert_eq!(user(object.clone()).as_deref(), Some("a"));
    let mut without = object;
    without["metadata"] = json!({ "user_id": "b" });
    assert_eq!(user(without).as_deref(), Some("c"));
}

#[test]
fn what_is_missing_is_named() {
    let names = MetadataNames::default();
    for (object, field) in [
        (json!({ "status": "active" }), "data.object.id"),
        (json!({ "id": "s" }), "data.object.status"),
        (
            json!({ "id": "s", "object": "invoice", "status": "paid" }),
            "data.object.object",
        ),
    ] {
        let read = subscription::read(&envelope(object), &names);
        assert_eq!(read, Err(Unreadable::Field(field)));
    }
}

#[test]
fn an_event_needs_a_type_a_time_a_mode_and_an_object() {
    let whole = json!({ "type": "x", "created": 1, "livemode": true, "data": { "object": {} } });
    assert!(Envelope::parse("evt", whole.to_string().as_bytes()).is_ok());
    for field in ["type", "created", "livemode", "data"] {
        for wrong in [json!(null), json!([]), json!(-1), json!("")] {
            let mut body = whole.clone();
            body[field] = wrong;
            assert!(Envelope::parse("evt", body.to_string().as_bytes()).is_err());
        }
    }
}
