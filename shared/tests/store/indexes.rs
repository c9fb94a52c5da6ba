//! Indexes and the server's kind are compared before use.

use bson::{Document, doc};
use hookledger_dev::mongo::process::MongodOptions;
use hookledger_dev::mongo::{Mongod, shared};
use hookledger_shared::store::Stores;
use hookledger_shared::store::index::{Change, IndexError};
use hookledger_shared::store::preflight::{BootRefusal, PreflightError};

use crate::bed;

async fn bare() -> Stores {
    bed::unprepared(&shared::uri().await.unwrap(), "indexes").await
}

#[tokio::test]
async fn a_second_boot_finds_nothing_to_do() {
    let stores = bare().await;
    let made = stores.preflight(&Stores::wanted()).await.unwrap();
    assert!(
        made.iter()
            .all(|planned| matches!(planned.change, Change::Create(_)))
    );
    assert!(!made.is_empty());
    assert!(
        stores
            .preflight(&Stores::wanted())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn boots_at_the_same_time_make_each_index_once() {
    let stores = bare().await;
    let wanted = Stores::wanted();
    let boots = (0..4).map(|_| stores.preflight(&wanted));
    for boot in futures::future::join_all(boots).await {
        boot.unwrap();
    }
    assert!(stores.plan(&wanted).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_identity_index_that_is_not_unique_refuses_the_boot() {
    let stores = bare().await;
    let create = doc! {
        "createIndexes": "events",
        "indexes": [{ "name": "theirs", "key": { "eventId": 1, "provider": 1, "scope": 1 } }],
    };
    stores.database().run_command(create).await.unwrap();
    let refused = stores.preflight(&Stores::wanted()).await;
    let Err(PreflightError::Refused(refusal @ BootRefusal::Index(IndexError::Conflicts(_)))) =
        refused
    else {
        panic!("{refused:?}");
    };
    assert!(refusal.to_string().contains("events.theirs"), "{refusal}");
}

#[tokio::test]
async fn old_duplicates_refuse_the_boot_and_are_named() {
    let stores = bare().await;
    let rows = stores.database().collection::<Document>("events");
    let twin = doc! { "eventId": "evt_twice", "provider": "stripe", "scope": "default" };
    rows.insert_many([twin.clone(), twin]).await.unwrap();
    let refused = stores.preflight(&Stores::wanted()).await.unwrap_err();
    assert!(refused.to_string().contains("evt_twice"), "{refused}");
}

/// The driver drops a standalone server without a word when the URI names a replica set.
#[tokio::test]
async fn a_standalone_server_refuses_the_boot_however_the_uri_calls_it() {
    let mut alone = Mongod::start(MongodOptions::default()).await.unwrap();
    let port = alone.port();
    for query in ["", "?replicaSet=rs0"] {
        let stores = bed::unprepared(&format!("mongodb://127.0.0.1:{port}/{query}"), "alone").await;
        let refused = stores.preflight(&Stores::wanted()).await;
        let standalone = matches!(
            refused,
            Err(PreflightError::Refused(BootRefusal::Standalone))
        );
        assert!(standalone, "{query}: {refused:?}");
    }
    alone.kill().await.unwrap();
}

#[tokio::test]
async fn an_unreachable_server_is_no_refusal() {
    let stores = bed::unprepared(
        "mongodb://127.0.0.1:1/?replicaSet=rs0&serverSelectionTimeoutMS=200",
        "nobody",
    )
    .await;
    let not_yet = stores.preflight(&Stores::wanted()).await;
    assert!(
        matches!(not_yet, Err(PreflightError::NotYet(_))),
        "{not_yet:?}"
    );
}
