//! The conformance of the http sink, continued: receivers that answer badly or not at all.

use bson::doc;
use hookledger_worker::outbox::DelivererError;
use hookledger_worker::outbox::sink::SinkError;
use tokio::net::TcpListener;

use crate::receiver::{Receiver, Reply};
use crate::world::{KEY, World, http};

/// Asserts that the message waits for another try, that this was said in its trail, and
/// that the next try is known as the same message.
async fn assert_tried_again(world: &World, kind: &str) {
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "pending");
    assert_eq!(row.get_i32("attempts").unwrap(), 1);
    assert!(!row.contains_key("lease"));
    let trail = world.trail().await;
    assert!(trail[0].starts_with(&format!("{kind}: ")), "{trail:?}");
}

#[tokio::test]
async fn what_was_sent_without_an_answer_is_unknown_and_sent_again_under_its_key() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    for (tries, reply) in (1..).zip([
        Reply::Hang,
        Reply::ResetUnread,
        Reply::ResetAfterRequest,
        Reply::HalfHead,
        Reply::EndlessHead,
        Reply::Garbage,
    ]) {
        world.delivers(&receiver, reply.clone()).await;
        assert_tried_again(&world, "unanswered").await;
        let trail = world.trail().await;
        let says_so = trail[0].contains("it may have been taken; the same key goes");
        assert!(says_so, "{reply:?}: {trail:?}");
        let line = "hookledger_outbox_deliveries_total{destination=\"app\",result=\"unknown\"}";
        assert!(world.metric(&format!("{line} {tries}")), "{reply:?}");
        receiver.replies(Reply::status(200));
        world.all_due().await;
        world.deliver().await;
        assert_eq!(world.status().await, "sent", "{reply:?}");
        let all = receiver.requests();
        assert!(
            all.iter()
                .all(|request| request.header("webhook-id") == KEY)
        );
        let reached = usize::from(!matches!(reply, Reply::ResetUnread));
        assert_eq!(
            all.len(),
            1 + reached,
            "{reply:?}: nothing is sent twice within one try"
        );
    }
}

#[tokio::test]
async fn a_status_counts_whatever_its_body_does() {
    let receiver = Receiver::start([]).await;
    let world = World::over(&receiver).await;
    for reply in [Reply::HalfBody, Reply::EndlessBody, Reply::TricklingBody] {
        world.delivers(&receiver, reply.clone()).await;
        assert_eq!(world.status().await, "sent", "{reply:?}");
        assert_eq!(receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_slow_receiver_is_waited_for() {
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let receiver = Receiver::start([Reply::Held(gate.clone())]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    let answered = async {
        receiver.has_seen(1).await;
        assert_eq!(world.status().await, "sending");
        gate.notify_one();
    };
    tokio::join!(world.deliver(), answered);
    assert_eq!(world.status().await, "sent");
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let world = World::with(&http("app", &format!("http://{address}/?token=geheim"))).await;
    let world = world.unwrap();
    world.once(doc! {}).await;
    world.deliver().await;
    assert_tried_again(&world, "unreachable").await;
    let row = world.row().await.to_string();
    assert!(!row.contains("geheim"), "an address's query shows in {row}");
}

#[tokio::test]
async fn a_tls_handshake_that_fails_or_hangs_is_no_connection() {
    // The second never says a word: the listener takes the connection, and nobody reads it.
    let plain = Receiver::start([Reply::Garbage]).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for address in [plain.address, silent.local_addr().unwrap()] {
        let world = World::with(&http("app", &format!("https://{address}/"))).await;
        let world = world.unwrap();
        world.once(doc! {}).await;
        world.deliver().await;
        assert_tried_again(&world, "unreachable").await;
    }
    assert!(plain.requests().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_tried_again() {
    let world = World::with(&http("app", "https://nowhere.invalid/"))
        .await
        .unwrap();
    world.once(doc! {}).await;
    world.deliver().await;
    assert_tried_again(&world, "unreachable").await;
}

#[tokio::test]
async fn an_address_in_numbers_that_is_not_public_is_refused_at_boot() {
    for host in [
        "10.0.0.1",
        "169.254.169.254",
        "0x0a000001",
        "0251.0376.0251.0376",
        "[::ffff:127.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[::]",
        "0.0.0.0",
    ] {
        let refused = World::with(&http("app", &format!("https://{host}/"))).await;
        let forbidden = matches!(
            refused.err(),
            Some(DelivererError::Sink(SinkError::ForbiddenAddress { .. }))
        );
        assert!(forbidden, "{host}");
    }
    let listed = http("app", "https://10.1.2.3/") + "allow_private = [\"10.1.0.0/16\"]\n";
    assert!(World::with(&listed).await.is_ok());
}
