//! Claims: who may finish a message, and what becomes of one whose worker is gone.

use std::sync::Arc;
use std::time::Duration;

use bson::doc;
use hookledger_shared::model::lease::Transition;
use hookledger_shared::store::events::Failure;
use hookledger_shared::store::outbox::{MessageEnding, SentAs};
use hookledger_worker::service::Step;
use tokio::sync::Notify;

use crate::receiver::{Receiver, Reply};
use crate::world::{KEY, SETTLE, World, terms};

const LEASE: Duration = Duration::from_secs(30);

fn endings() -> Vec<MessageEnding> {
    let failure = || Failure {
        kind: "refused".to_owned(),
        message: "$status".to_owned(),
    };
    let sent = SentAs { version: None };
    vec![
        MessageEnding::Sent {
            sent,
            retention: LEASE,
            settle: SETTLE,
            note: "$key".to_owned(),
        },
        MessageEnding::Retry {
            after: LEASE,
            failure: failure(),
        },
        MessageEnding::Bury {
            sent,
            settle: SETTLE,
            failure: failure(),
        },
        MessageEnding::Release,
    ]
}

#[tokio::test]
async fn a_claim_that_was_taken_back_can_neither_finish_nor_renew() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    let outbox = &world.stores.outbox;
    let zombie = outbox
        .claim("app", &terms("zombie"))
        .await
        .unwrap()
        .unwrap();
    let zombie = zombie.claim().unwrap();
    world.rescue().await;
    for taken_again in [false, true] {
        if taken_again {
            let again = outbox.claim("app", &terms("another")).await.unwrap();
            assert_eq!(again.unwrap().epoch, 2);
        }
        let before = world.row().await;
        for ending in endings() {
            let ended = outbox.end(&zombie, &ending).await.unwrap();
            assert_eq!(ended, Transition::LeaseLost, "{ending:?}");
        }
        let renewed = outbox.renew(&zombie, LEASE).await.unwrap();
        assert_eq!(renewed, Transition::LeaseLost);
        assert_eq!(world.row().await, before);
    }
}

#[tokio::test]
async fn texts_that_begin_with_a_dollar_stay_texts() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    for ending in endings() {
        world.rows().delete_many(doc! {}).await.unwrap();
        world
            .once(doc! { "text": "$key", "$field": ["$$NOW"] })
            .await;
        let outbox = &world.stores.outbox;
        let claimed = outbox.claim("app", &terms("one")).await.unwrap().unwrap();
        let ended = outbox
            .end(&claimed.claim().unwrap(), &ending)
            .await
            .unwrap();
        assert_eq!(ended, Transition::Done);
        let row = world.row().await;
        let payload = row.get_document("payload").unwrap();
        assert_eq!(payload, &doc! { "text": "$key", "$field": ["$$NOW"] });
        match &ending {
            MessageEnding::Sent { .. } => assert_eq!(world.trail().await, ["$key"]),
            MessageEnding::Retry { .. } | MessageEnding::Bury { .. } => {
                let error = row.get_document("lastError").unwrap();
                assert_eq!(error.get_str("message").unwrap(), "$status");
            }
            MessageEnding::Release => assert_eq!(world.status().await, "pending"),
        }
    }
}

#[tokio::test]
async fn a_message_whose_worker_died_is_delivered_again_under_the_same_id() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.state(3).await;
    world.all_due().await;
    let outbox = &world.stores.outbox;
    outbox.claim("app", &terms("dead")).await.unwrap().unwrap();
    // While the lease holds, nobody else may have it.
    assert_eq!(world.step().await, Step::Idle);
    assert!(outbox.expired(10).await.unwrap().is_empty());
    world.rescue().await;
    assert_eq!(world.row().await.get_i32("crashes").unwrap(), 1);
    world.deliver().await;
    let request = receiver.only_request();
    assert_eq!(
        request.header("webhook-id"),
        "self:test:entitlement.changed:user_1:3"
    );
    let trail = world.trail().await;
    assert_eq!(trail[0], "unknown: its worker stopped while sending");
    assert!(trail[1].starts_with("delivered: "), "{trail:?}");
}

#[tokio::test]
async fn a_zombies_send_counts_for_nothing_and_the_receiver_knows_it_again() {
    let gate = Arc::new(Notify::new());
    let receiver = Receiver::start([Reply::Held(gate.clone()), Reply::status(200)]).await;
    let (zombie, other) = {
        let world = World::over(&receiver).await;
        let other = world.another();
        (world, other)
    };
    zombie.once(doc! {}).await;
    let overtaken = async {
        receiver.has_seen(1).await;
        other.rescue().await;
        other.deliver().await;
        let sent = other.row().await;
        assert_eq!(sent.get_str("status").unwrap(), "sent");
        gate.notify_one();
        sent
    };
    let ((), sent) = tokio::join!(zombie.deliver(), overtaken);
    assert_eq!(zombie.row().await, sent);
    assert!(zombie.metric("hookledger_lease_losses_total{what=\"message\"} 1"));
    assert!(!other.metric("hookledger_lease_losses_total{what=\"message\"} 1"));
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests
            .iter()
            .all(|request| request.header("webhook-id") == KEY)
    );
}

#[tokio::test]
async fn a_long_send_keeps_its_lease() {
    let gate = Arc::new(Notify::new());
    let receiver = Receiver::start([Reply::Held(gate.clone())]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    let renewed = async {
        receiver.has_seen(1).await;
        world.leases_over().await;
        // The lease that is over is renewed before anybody takes it back.
        while !world.stores.outbox.expired(10).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        gate.notify_one();
    };
    tokio::join!(world.deliver(), renewed);
    assert_eq!(world.status().await, "sent");
}

#[tokio::test]
async fn a_send_stops_when_a_renewal_finds_its_lease_lost() {
    let receiver = Receiver::start([Reply::Hang]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    let taken = async {
        receiver.has_seen(1).await;
        world.rescue().await;
        world.row().await
    };
    let ((), rescued) = tokio::join!(world.deliver(), taken);
    assert_eq!(world.row().await, rescued);
    assert!(world.metric("hookledger_lease_losses_total{what=\"message\"} 1"));
    // Nothing came of the send, not even that it is unknown.
    let line = "hookledger_outbox_deliveries_total{destination=\"app\",result=\"unknown\"} 1";
    assert!(!world.metric(line));
}

#[tokio::test]
async fn a_refused_version_does_not_bury_a_newer_one() {
    let receiver = Receiver::start([Reply::status(422), Reply::status(200)]).await;
    let world = World::over(&receiver).await;
    world.state(1).await;
    world.all_due().await;
    let outbox = &world.stores.outbox;
    let claimed = outbox.claim("app", &terms("one")).await.unwrap().unwrap();
    world.state(2).await;
    let bury = MessageEnding::Bury {
        sent: SentAs {
            version: claimed.version,
        },
        settle: SETTLE,
        failure: Failure {
            kind: "refused".to_owned(),
            message: "answered 422".to_owned(),
        },
    };
    let ended = outbox.end(&claimed.claim().unwrap(), &bury).await.unwrap();
    assert_eq!(ended, Transition::Done);
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "pending");
    assert_eq!(row.get_i32("attempts").unwrap(), 0);
    assert!(!row.contains_key("deadAt") && !row.contains_key("lease"));
    // A version that is refused itself is a dead letter.
    world.all_due().await;
    world.deliver().await;
    assert_eq!(world.status().await, "dead");
}
