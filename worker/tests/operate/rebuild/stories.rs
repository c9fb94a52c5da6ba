//! Events of several customers, and a worker in this process that processes them.

use std::time::Duration;

use bson::{Document, doc};
use fastrand::Rng;
use hookledger_dev::mongo::wait;
use hookledger_dev::stripe::history::History;
use hookledger_shared::clock;
use hookledger_shared::config::{Environment, Raw, WorkerSettings};
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::store::transaction::Slot;
use hookledger_worker::app::Context;
use hookledger_worker::event::process_next;
use hookledger_worker::service::Step;
use serde_json::{Value, json};

use crate::bed::Bed;

/// When all of it happens.
pub(super) const AT: i64 = 1_790_000_000;
const PACKS: &str = r#"
[catalogue.pack_100]
credits = 100
amount = 1900
currency = "usd"
"#;
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A bed whose catalogue has the pack of all stories.
pub(super) async fn bed() -> Bed {
    let bed = Bed::new().await;
    let text = std::fs::read_to_string(bed.config()).unwrap();
    bed.configure(&format!("{text}{PACKS}"));
    bed
}

/// A row of the ledger for an event of this type about this object.
pub(super) fn event(id: &str, kind: &str, created: i64, object: &Value, previous: &Value) -> Value {
    json!({
        "id": id, "object": "event", "type": kind, "created": created, "livemode": false,
        "data": { "object": object, "previous_attributes": previous },
    })
}

pub(super) fn row(body: &Value) -> NewEvent {
    let object = &body["data"]["object"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_customer = object["object"] == "customer";
    let customer = if is_customer { "id" } else { "customer" };
    NewEvent {
        event_id: text(&body["id"]).unwrap(),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: text(&body["type"]),
        created: body["created"].as_i64(),
        livemode: Some(false),
        account: None,
        api_version: None,
        object_id: text(&object["id"]),
        customer_id: text(&object[customer]),
        content_type: None,
        body: body.to_string().into(),
        problem: None,
        received_at: clock::now(),
    }
}

/// A subscription of `customer` in this state.
pub(super) fn subscription(customer: &str, status: &str) -> Value {
    json!({
        "id": format!("sub_{customer}"), "object": "subscription", "customer": customer,
        "status": status, "created": AT, "cancel_at_period_end": false, "cancel_at": null,
        "metadata": { "plan": "pro" },
        "items": { "object": "list", "data": [{
            "id": "si_1", "object": "subscription_item", "quantity": 1,
            "price": { "id": "price_1", "lookup_key": "pro_monthly" },
            "current_period_start": AT, "current_period_end": AT + 2_592_000,
        }] },
    })
}

/// A finished checkout of a pack; without a user, its customer's pays.
pub(super) fn sale(purchase: &str, customer: &Value, user: &Value, amount: i64) -> Value {
    json!({
        "id": format!("cs_{purchase}"), "object": "checkout.session", "mode": "payment",
        "status": "complete", "payment_status": "paid", "created": AT, "customer": customer,
        "client_reference_id": user, "payment_intent": format!("pi_{purchase}"),
        "amount_subtotal": amount, "amount_total": amount, "currency": "usd",
        "customer_details": { "email": "jenny.rosen@example.com" },
        "metadata": { "sku": "pack_100", "purchase_id": purchase },
    })
}

pub(super) const COMPLETED: &str = "checkout.session.completed";
const UPDATED: &str = "customer.subscription.updated";

/// What happens to one customer: a subscription with a tie, sometimes its end, a link, sales
/// of which one is wrong, and of which one names no user.
pub(super) fn life(random: &mut Rng, number: usize) -> Vec<Value> {
    let (customer, user) = (format!("cus_{number}"), format!("user_{number}"));
    let mut count = 0;
    let mut id = || {
        count += 1;
        format!("evt_{number}_{count}")
    };
    let mut events = Vec::new();
    let mut was = "incomplete";
    let mut at = AT;
    let incomplete = subscription(&customer, was);
    let created = "customer.subscription.created";
    events.push(event(&id(), created, at, &incomplete, &Value::Null));
    for _ in 0..random.usize(1..6) {
        at += random.i64(0..2);
        let is = random.choice(["active", "past_due", "unpaid"]).unwrap();
        let now = subscription(&customer, is);
        events.push(event(&id(), UPDATED, at, &now, &json!({ "status": was })));
        was = is;
    }
    if random.bool() {
        let over = subscription(&customer, "canceled");
        let kind = "customer.subscription.deleted";
        events.push(event(&id(), kind, at + 1, &over, &Value::Null));
    }
    let paid = json!({
        "id": format!("in_{number}"), "object": "invoice", "customer": customer, "created": AT,
        "status": "paid", "currency": "usd", "amount_due": 1_900, "amount_paid": 1_900,
    });
    events.push(event(&id(), "invoice.paid", AT + 1, &paid, &Value::Null));
    let mut sold = |suffix: &str, user: &Value, amount| {
        let sale = sale(
            &format!("p{number}{suffix}"),
            &json!(customer),
            user,
            amount,
        );
        event(&id(), COMPLETED, AT + 1, &sale, &Value::Null)
    };
    events.push(sold("a", &json!(user), 1_900));
    events.push(sold("b", &Value::Null, 1_900));
    events.push(sold("c", &json!(user), 1));
    let object = json!({
        "id": customer, "object": "customer", "created": AT, "metadata": { "user_id": user },
    });
    events.push(event(&id(), "customer.updated", AT, &object, &Value::Null));
    events
}

/// Lives of so many customers, others for each seed, and a whole history as Stripe tells it,
/// shuffled.
pub(super) fn lives(seed: u64, customers: usize) -> Vec<NewEvent> {
    let mut random = Rng::with_seed(seed);
    let first = usize::try_from(seed).unwrap() * 1_000;
    let mut events: Vec<Value> = (first..first + customers)
        .flat_map(|number| life(&mut random, number))
        .collect();
    let history = History::new(seed, AT).events;
    let history = history.iter().map(|event| event.body.as_str());
    events.extend(history.map(|body| serde_json::from_str::<Value>(body).unwrap()));
    random.shuffle(&mut events);
    events.iter().map(row).collect()
}

/// A worker of this process, with the configuration of the bed.
pub(super) fn context(bed: &Bed) -> Context {
    let environment = Environment::from_pairs(Bed::environment());
    let raw = Raw::load(Some(&bed.config()), &environment).unwrap();
    let settings = WorkerSettings::read(&raw, &environment).unwrap();
    Context::new(bed.stores.clone(), settings)
}

/// Processes until nothing is left to do.
pub(super) async fn drain(bed: &Bed) {
    let context = context(bed);
    let worker = async || {
        let mut slot = Slot::open(&context.stores).await.unwrap();
        while process_next(&context, &mut slot).await.unwrap() == Step::Worked {}
    };
    let open = doc! { "status": { "$in": ["received", "processing"] } };
    wait::until("the ledger to be worked off", PATIENCE, async || {
        futures::future::join_all((0..4).map(|_| worker())).await;
        Ok((bed.count("events", open.clone()).await == 0).then_some(()))
    })
    .await
    .unwrap();
}

/// A bed with these in its ledger, processed.
pub(super) async fn processed(events: &[NewEvent]) -> Bed {
    let bed = bed().await;
    bed.insert(events).await;
    drain(&bed).await;
    bed
}

/// Changes one document by hand; it must be there.
pub(super) async fn damage(bed: &Bed, collection: &str, key: &str, update: Document) {
    let documents = bed.stores.database().collection::<Document>(collection);
    let changed = documents.update_one(doc! { "_id": key }, update).await;
    assert_eq!(changed.unwrap().modified_count, 1, "{collection} {key}");
}

/// Deletes documents by hand; there must be such.
pub(super) async fn delete(bed: &Bed, collection: &str, filter: Document) {
    let documents = bed.stores.database().collection::<Document>(collection);
    let gone = documents.delete_many(filter).await.unwrap();
    assert!(gone.deleted_count > 0, "nothing deleted of {collection}");
}
