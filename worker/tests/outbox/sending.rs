//! What is sent, to whom, and what a failure of one leaves alone.

use bson::{DateTime, doc};
use hookledger_worker::outbox::deliver_next;
use hookledger_worker::service::Step;
use serde_json::json;

use crate::receiver::{Receiver, Reply};
use crate::world::{KEY, Message, World, http, once};

#[tokio::test]
async fn a_request_carries_the_message_under_its_key() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    let payload = doc! {
        "amount": 9_007_199_254_740_993_i64,
        "paidAt": DateTime::from_millis(1_700_000_000_000),
        "note": "$amount is not a field here",
        "$set": { "a.b": 1 },
    };
    world.once(payload).await;
    world.deliver().await;
    let request = receiver.only_request();
    assert_eq!(request.header("webhook-id"), KEY);
    assert_eq!(request.header("idempotency-key"), KEY);
    assert_eq!(request.header("content-type"), "application/json");
    assert!(request.header("user-agent").starts_with("hookledger/"));
    let created = *world.row().await.get_datetime("createdAt").unwrap();
    let expected = json!({
        "id": KEY,
        "type": "email.receipt",
        "timestamp": created.try_to_rfc3339_string().unwrap(),
        "data": {
            "amount": 9_007_199_254_740_993_i64,
            "paidAt": "2023-11-14T22:13:20Z",
            "note": "$amount is not a field here",
            "$set": { "a.b": 1 },
        },
    });
    assert_eq!(request.json(), expected);
}

#[tokio::test]
async fn a_state_message_carries_its_subject_and_version_and_is_known_by_both() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.state(7).await;
    world.all_due().await;
    world.deliver().await;
    let request = receiver.only_request();
    let id = "self:test:entitlement.changed:user_1:7";
    assert_eq!(request.header("webhook-id"), id);
    let body = request.json();
    assert_eq!(body["id"], id);
    assert_eq!(body["subject"], "user_1");
    assert_eq!(body["version"], 7);
    assert_eq!(body["data"], json!({ "only7": 7 }));
}

#[tokio::test]
async fn a_payload_that_has_no_form_in_json_is_a_dead_letter_and_others_go_on() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.once(doc! { "share": f64::NAN }).await;
    let mut good = once("app", doc! {});
    good.key.push('0');
    world.write(Message::Once(good)).await;
    world.deliver().await;
    world.deliver().await;
    assert_eq!(world.step().await, Step::Idle);
    let dead = world
        .rows()
        .find_one(doc! { "key": KEY })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(dead.get_str("status").unwrap(), "dead");
    let error = dead.get_document("lastError").unwrap();
    assert_eq!(error.get_str("kind").unwrap(), "unsendable");
    assert_eq!(
        receiver.only_request().header("webhook-id"),
        format!("{KEY}0")
    );
}

#[tokio::test]
async fn the_log_takes_every_message() {
    let world = World::with("[[sink]]\nname = \"app\"\nkind = \"log\"\n")
        .await
        .unwrap();
    world.once(doc! { "email": "someone@example.com" }).await;
    world.deliver().await;
    assert_eq!(world.status().await, "sent");
    assert_eq!(world.trail().await, ["delivered: written to the log"]);
}

#[tokio::test]
async fn a_dead_receiver_delays_no_other_destination() {
    let (dead, alive) = (
        Receiver::start([Reply::Hang]).await,
        Receiver::start([]).await,
    );
    let sinks = http("app", &alive.url()) + &http("dead", &dead.url());
    let world = World::with(&sinks).await.unwrap();
    world.write(Message::Once(once("dead", doc! {}))).await;
    world.once(doc! {}).await;
    let hanging = deliver_next(&world.deliverer, "dead");
    let meanwhile = async {
        dead.has_seen(1).await;
        world.deliver().await;
    };
    tokio::select! {
        ended = hanging => panic!("the dead receiver was faster: {ended:?}"),
        () = meanwhile => {}
    }
    assert_eq!(alive.only_request().header("webhook-id"), KEY);
}

#[tokio::test]
async fn a_message_for_a_destination_that_is_gone_stays_as_it_is() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.write(Message::Once(once("gone", doc! {}))).await;
    let before = world.row().await;
    assert_eq!(
        deliver_next(&world.deliverer, "gone").await.unwrap(),
        Step::Idle
    );
    assert_eq!(world.step().await, Step::Idle);
    assert_eq!(world.row().await, before);
    assert_eq!(world.deliverer.destinations(), ["app"]);
}
