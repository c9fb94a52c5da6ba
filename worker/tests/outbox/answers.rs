//! The conformance of the http sink: what each answer makes of a message.

use bson::doc;

use crate::receiver::{Receiver, Reply};
use crate::world::World;

/// A receiver and a worker that delivers to it.
async fn pair() -> (World, Receiver) {
    let receiver = Receiver::start([]).await;
    (World::over(&receiver).await, receiver)
}

async fn assert_pending(world: &World, kind: &str, seconds: std::ops::Range<i64>) {
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "pending");
    assert_eq!(row.get_i32("attempts").unwrap(), 1);
    let error = row.get_document("lastError").unwrap();
    assert_eq!(error.get_str("kind").unwrap(), kind);
    let due_in = world.due_in().await;
    // The server's clock goes on while we look.
    let range = seconds.start * 1_000 - 5_000..seconds.end * 1_000;
    assert!(range.contains(&due_in), "due in {due_in} ms");
}

#[tokio::test]
async fn any_2xx_is_a_delivery() {
    let (world, receiver) = pair().await;
    for status in [200, 201, 202, 204, 299] {
        world.delivers(&receiver, Reply::status(status)).await;
        let row = world.row().await;
        assert_eq!(row.get_str("status").unwrap(), "sent", "{status}");
        assert!(row.get_datetime("sentAt").is_ok() && row.get_datetime("expireAt").is_ok());
        assert!(!row.contains_key("lease") && !row.contains_key("dueAt"));
        assert!(world.trail().await[0].starts_with(&format!("delivered: answered {status} in")));
        assert_eq!(receiver.only_request().line, "POST /hooks HTTP/1.1");
    }
}

#[tokio::test]
async fn what_a_receiver_cannot_take_now_is_tried_again() {
    let (world, receiver) = pair().await;
    for status in [408, 425, 429, 500, 502, 503, 504] {
        world.delivers(&receiver, Reply::status(status)).await;
        assert_pending(&world, "unavailable", 0..61).await;
        assert!(world.trail().await[0].starts_with(&format!("unavailable: answered {status} in")));
        assert_eq!(receiver.requests().len(), 1);
    }
}

#[tokio::test]
async fn both_forms_of_retry_after_are_honoured_and_absurd_ones_survive() {
    let in_ten_minutes = {
        let now = hookledger_shared::clock::unix_seconds();
        let seconds = u64::try_from(now).unwrap() + 600;
        let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        httpdate::fmt_http_date(date)
    };
    let (world, receiver) = pair().await;
    // On top of it comes the jittered wait of up to a minute.
    for (asked, seconds) in [
        ("600", 600..661),
        (in_ten_minutes.as_str(), 598..661),
        ("99999999999999999999", 3_600..3_661),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600..3_661),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0..61),
        ("next week", 0..61),
        ("-5", 0..61),
    ] {
        for status in [429, 503] {
            let reply = Reply::with(status, format!("Retry-After: {asked}"));
            world.delivers(&receiver, reply).await;
            assert_pending(&world, "unavailable", seconds.clone()).await;
        }
    }
}

#[tokio::test]
async fn what_a_receiver_refuses_is_a_dead_letter_at_once() {
    let (world, receiver) = pair().await;
    for status in [400, 401, 403, 404, 409, 410, 413, 422, 451] {
        world.delivers(&receiver, Reply::status(status)).await;
        let row = world.row().await;
        assert_eq!(row.get_str("status").unwrap(), "dead", "{status}");
        assert!(row.get_datetime("deadAt").is_ok() && !row.contains_key("lease"));
        let error = row.get_document("lastError").unwrap();
        assert_eq!(error.get_str("kind").unwrap(), "refused");
        assert_eq!(receiver.requests().len(), 1);
    }
    assert!(world.metric("hookledger_buried_total{what=\"message\",kind=\"refused\"} 9"));
}

#[tokio::test]
async fn a_redirect_is_never_followed_not_even_to_the_same_machine() {
    let inside = Receiver::start([]).await;
    let (world, receiver) = pair().await;
    for status in [301, 302, 303, 307, 308] {
        let reply = Reply::with(status, format!("Location: {}", inside.url()));
        world.delivers(&receiver, reply).await;
        let row = world.row().await;
        assert_eq!(row.get_str("status").unwrap(), "dead", "{status}");
        let error = row.get_document("lastError").unwrap();
        assert_eq!(error.get_str("kind").unwrap(), "redirect");
        assert_eq!(receiver.requests().len(), 1);
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn the_last_try_buries_under_what_went_wrong() {
    let receiver = Receiver::start([Reply::status(503)]).await;
    let world = World::over(&receiver).await;
    world.once(doc! {}).await;
    for tries in 1..=3 {
        assert_eq!(world.status().await, "pending", "before try {tries}");
        world.all_due().await;
        world.deliver().await;
    }
    let row = world.row().await;
    assert_eq!(row.get_str("status").unwrap(), "dead");
    assert_eq!(row.get_i32("attempts").unwrap(), 3);
    let error = row.get_document("lastError").unwrap();
    assert_eq!(error.get_str("kind").unwrap(), "unavailable");
    assert!(
        error
            .get_str("message")
            .unwrap()
            .ends_with("(given up after 3 tries)")
    );
    let requests = receiver.requests();
    let ids: Vec<_> = requests
        .iter()
        .map(|request| request.header("webhook-id"))
        .collect();
    assert_eq!(ids, [crate::world::KEY; 3]);
    assert!(requests.windows(2).all(|pair| pair[0].body == pair[1].body));
}
