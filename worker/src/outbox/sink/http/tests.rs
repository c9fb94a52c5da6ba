//! A name that leads to an address that may not be called: no connection is ever made.

use bson::{DateTime, doc, oid::ObjectId};
use hookledger_shared::config::Secret;
use tokio::net::TcpListener;

use super::*;
use crate::outbox::sink::Cause;

fn message() -> OutboxMessage {
    let row = doc! {
        "_id": ObjectId::new(),
        "key": "self:test:receipt:in_1",
        "topic": "email.receipt",
        "destination": "app",
        "payload": {},
        "status": "sending",
        "epoch": 1_i64,
        "createdAt": DateTime::from_millis(0),
        "causedBy": { "provider": "stripe", "scope": "default", "eventId": "evt_1" },
    };
    bson::deserialize_from_document(row).unwrap()
}

async fn deliver(port: u16, allowed: AllowedAddresses) -> Outcome {
    let url: Url = format!("http://localhost:{port}/").parse().unwrap();
    let secret = Secret::new("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz");
    let http = Http {
        client: client(&url, allowed, Timeouts::default()).unwrap(),
        url,
        signer: Signer::new("app", &[secret]).unwrap(),
    };
    http.deliver(&message(), 0).await
}

#[tokio::test]
async fn a_name_that_leads_to_a_forbidden_address_is_never_called() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = deliver(port, AllowedAddresses::public_only()).await;
    let Outcome::Retry { after, failure } = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((*after, failure.cause), (None, Cause::ForbiddenAddress));
    let message = &failure.message;
    assert!(message.contains("a loopback address"), "{message}");
    // The next connection that comes is the allowed one: there was none before it.
    let loopback = AllowedAddresses::and(["127.0.0.0/8".parse().unwrap()]);
    let (outcome, accepted) = tokio::join!(deliver(port, loopback), async {
        let (accepted, _) = listener.accept().await.unwrap();
        accepted.readable().await.unwrap();
    });
    let () = accepted;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}
