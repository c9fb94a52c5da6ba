//! Trouble with the database between a delivery and its note.

use bson::doc;
use hookledger_dev::mongo::{FailPoint, shared};
use hookledger_shared::store::outbox::Outbox;
use hookledger_worker::outbox::deliver_next;

use crate::receiver::Receiver;
use crate::world::World;

/// A message is delivered while the database answers `trouble` to what is written then.
async fn delivered_in(trouble: FailPoint) -> (World, Receiver) {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    let namespace = format!("{}.{}", world.stores.database().name(), Outbox::NAME);
    let uri = shared::uri().await.unwrap();
    let armed = trouble.namespace(&namespace).arm(&uri).await.unwrap();
    deliver_next(&world.deliverer, "app").await.unwrap();
    armed.off().await.unwrap();
    (world, receiver)
}

#[tokio::test]
async fn a_delivery_that_could_not_be_noted_at_once_is_noted_and_not_repeated() {
    // NotWritablePrimary, without the label by which the driver would try again itself.
    let trouble = FailPoint::on_commands(["update"]).error_code(10_107);
    let (world, receiver) = delivered_in(trouble.error_labels([]).times(2)).await;
    assert_eq!(world.status().await, "sent");
    assert_eq!(receiver.requests().len(), 1);
}

#[tokio::test]
async fn a_note_that_was_written_without_an_answer_is_no_lost_lease() {
    let trouble = FailPoint::on_commands(["update"]).write_concern_timeout();
    let (world, receiver) = delivered_in(trouble.times(1)).await;
    assert_eq!(world.status().await, "sent");
    assert_eq!(world.trail().await.len(), 1);
    assert_eq!(receiver.requests().len(), 1);
    assert!(
        !world
            .context
            .metrics
            .encode()
            .contains("lease_losses_total{")
    );
}
