//! Inserting: duplicates, and what a duplicate may be taken to mean.

use bson::doc;
use hookledger_dev::mongo::{FailPoint, shared};
use hookledger_shared::store::Insertion;
use hookledger_shared::store::error::Fault;

use crate::bed::{self, LIMIT, event};

#[tokio::test]
async fn each_row_of_a_batch_gets_its_own_answer() {
    let stores = bed::stores().await;
    bed::insert(&stores, ["b".to_owned()]).await;
    let rows = ["a", "b", "c", "c"].map(|id| event(id).row());
    let answers = stores.events.insert_many(&rows, LIMIT).await.unwrap();
    use Insertion::{AlreadyHere, Stored};
    assert_eq!(answers, [Stored, AlreadyHere, Stored, AlreadyHere]);
}

#[tokio::test]
async fn a_row_that_is_too_large_is_our_fault_and_not_the_databases() {
    let stores = bed::stores().await;
    let mut huge = event("huge");
    huge.body = vec![b'x'; 16 * 1024 * 1024].into();
    let refused = stores.events.insert_many(&[huge.row()], LIMIT).await;
    assert!(refused.is_err_and(|error| error.fault() == Fault::Ours));
}

#[tokio::test]
async fn the_same_id_in_another_scope_or_of_another_provider_is_another_event() {
    let stores = bed::stores().await;
    let mut other_scope = event("a");
    other_scope.scope = "tenant".to_owned();
    let mut other_provider = event("a");
    other_provider.provider = "github";
    let rows = [event("a").row(), other_scope.row(), other_provider.row()];
    let answers = stores.events.insert_many(&rows, LIMIT).await.unwrap();
    assert_eq!(
        answers,
        [Insertion::Stored, Insertion::Stored, Insertion::Stored]
    );
}

/// Trap 1: the first copy may be on the primary only.
#[tokio::test]
async fn a_duplicate_beside_a_write_concern_error_is_not_taken_for_stored() {
    let uri = shared::uri().await.unwrap();
    let stores = bed::stores_at(&uri, "trap-one").await;
    bed::insert(&stores, ["a".to_owned()]).await;
    let namespace = format!("{}.events", stores.database().name());
    let point = FailPoint::on_commands(["insert"])
        .app_name("trap-one")
        .namespace(&namespace)
        .write_concern_timeout()
        .times(1)
        .arm(&uri)
        .await
        .unwrap();
    let answered = stores.events.insert_many(&[event("a").row()], LIMIT).await;
    assert!(
        answered.is_err(),
        "acknowledged what a majority may not have: {answered:?}"
    );
    point.off().await.unwrap();
    let answered = stores
        .events
        .insert_many(&[event("a").row()], LIMIT)
        .await
        .unwrap();
    assert_eq!(answered, [Insertion::AlreadyHere]);
}

#[tokio::test]
async fn a_body_comes_back_as_the_bytes_that_were_signed() {
    let stores = bed::stores().await;
    let bodies: [&[u8]; 4] = [
        br#"{"$set":{"a.b":1},"":{"$oid":"507f1f77bcf86cd799439011"},"n":18446744073709551616}"#,
        b"\xef\xbb\xbf{}",
        b"\xff\xfe not utf-8",
        "{\"text\":\"$status\",\"nul\":\"\u{0}\"}".as_bytes(),
    ];
    let rows: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(number, body)| {
            let mut event = event(&format!("body-{number}"));
            event.body = body.to_vec().into();
            event.row()
        })
        .collect();
    stores.events.insert_many(&rows, LIMIT).await.unwrap();
    for (number, body) in bodies.iter().enumerate() {
        let found = stores
            .events
            .by_event_id(&format!("body-{number}"))
            .await
            .unwrap();
        assert_eq!(found[0].body.as_bytes(), *body);
    }
    let rows = stores.database().collection::<bson::Document>("events");
    assert_eq!(rows.count_documents(doc! {}).await.unwrap(), 4);
}
