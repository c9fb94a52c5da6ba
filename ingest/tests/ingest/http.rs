//! Requests that no provider sends, and those that providers send in other ways.

use hookledger_dev::stripe::sign;

use crate::rig::raw::{exchange, rest, status};
use crate::rig::{NOW, Rig, SECRET, event, headers};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// A whole signed request, written by hand; `Connection` says what comes after it.
fn signed(body: &str, connection: &str) -> String {
    let signature = sign::header(body.as_bytes(), SECRET, NOW);
    format!(
        "POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\n\
         Stripe-Signature: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_are_404_and_other_methods_405() {
    let rig = Rig::start().await;
    let address = rig.running.webhook_addr;
    for (request, expected) in [
        ("GET / HTTP/1.1", 404),
        ("POST / HTTP/1.1", 404),
        ("POST /webhooks HTTP/1.1", 404),
        ("POST /webhooks/ HTTP/1.1", 404),
        ("POST /webhooks/github HTTP/1.1", 404),
        ("GET /webhooks/github HTTP/1.1", 404),
        ("POST /webhooks/stripe/ HTTP/1.1", 404),
        ("POST /webhooks/../etc/passwd HTTP/1.1", 404),
        ("POST /webhooks/%2e%2e%2fstripe HTTP/1.1", 404),
        ("POST /livez HTTP/1.1", 404),
        ("GET /metrics HTTP/1.1", 404),
        ("GET /webhooks/stripe HTTP/1.1", 405),
        ("PUT /webhooks/stripe HTTP/1.1", 405),
        ("OPTIONS /webhooks/stripe HTTP/1.1", 405),
        ("DELETE /webhooks/stripe HTTP/1.1", 405),
        ("POST /webhooks/stripe HTTP/1.1", 400),
        ("POST http://elsewhere/webhooks/stripe HTTP/1.1", 400),
        ("BREW /webhooks/stripe HTTP/1.1", 405),
        ("nonsense", 400),
    ] {
        let request = format!("{request}\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = exchange(address, request.as_bytes()).await;
        assert_eq!(status(&answer), Some(expected), "{request}\n{answer}");
        if expected == 405 {
            assert!(answer.to_lowercase().contains("allow: post"), "{answer}");
        }
    }
    let ops = exchange(
        rig.running.ops_addr,
        b"GET /webhooks/stripe HTTP/1.0\r\n\r\n",
    )
    .await;
    assert_eq!(status(&ops), Some(404), "{ops}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_two_lengths_has_none() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    let signature = sign::header(body.as_bytes(), SECRET, NOW);
    let length = body.len();
    for framing in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Content-Length: {length}\r\nContent-Length: 5\r\n"),
        "Content-Length: +5\r\n".to_owned(),
        "Transfer-Encoding: identity, something\r\n".to_owned(),
    ] {
        let request = format!(
            "POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nStripe-Signature: {signature}\r\n{framing}\r\n{body}"
        );
        let answer = exchange(rig.running.webhook_addr, request.as_bytes()).await;
        assert_eq!(status(&answer), Some(400), "{framing}\n{answer}");
    }
    assert!(rig.rows("stripe").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_deliveries_are_all_answered_in_order() {
    const COUNT: usize = 100;
    let rig = Rig::start().await;
    let requests: String = (0..COUNT)
        .map(|number| {
            let last = if number + 1 == COUNT {
                "close"
            } else {
                "keep-alive"
            };
            signed(&event(&format!("evt_{}", number / 2)), last)
        })
        .collect();
    let answer = exchange(rig.running.webhook_addr, requests.as_bytes()).await;
    let bodies: Vec<_> = answer.split("HTTP/1.1 200 OK").skip(1).collect();
    assert_eq!(bodies.len(), COUNT, "{answer}");
    for (number, body) in bodies.iter().enumerate() {
        assert_eq!(
            body.contains("duplicate"),
            number % 2 == 1,
            "{number}: {body}"
        );
    }
    assert_eq!(rig.rows("stripe").await.len(), COUNT / 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_in_pieces_is_the_same_body() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    let signature = sign::header(body.as_bytes(), SECRET, NOW);
    let mut stream = TcpStream::connect(rig.running.webhook_addr).await.unwrap();
    let head = format!(
        "POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
         Stripe-Signature: {signature}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for piece in body.as_bytes().chunks(7) {
        let size = format!("{:x}\r\n", piece.len());
        stream
            .write_all(&[size.as_bytes(), piece, b"\r\n"].concat())
            .await
            .unwrap();
        stream.flush().await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let answer = rest(&mut stream).await;
    assert_eq!(status(&answer), Some(200), "{answer}");
    assert_eq!(
        rig.rows("stripe").await[0].get_str("body").ok(),
        Some(body.as_str())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_is_no_delivery() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    let whole = signed(&body, "close");
    let part = &whole.as_bytes()[..whole.len() - 1];
    let mut stream = TcpStream::connect(rig.running.webhook_addr).await.unwrap();
    stream.write_all(part).await.unwrap();
    stream.shutdown().await.unwrap();
    let answer = rest(&mut stream).await;
    assert_ne!(status(&answer), Some(200), "{answer}");
    assert!(rig.rows("stripe").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_type_is_kept_and_never_asked_for() {
    let rig = Rig::start().await;
    for (number, kind) in ["application/json", "text/plain", "x"].iter().enumerate() {
        let body = event(&format!("evt_{number}"));
        let signature = sign::header(body.as_bytes(), SECRET, NOW);
        let pairs: [(&str, &[u8]); 2] = [
            ("stripe-signature", signature.as_bytes()),
            ("content-type", kind.as_bytes()),
        ];
        let reply = rig.post("stripe", headers(&pairs), body.into()).await;
        assert!(reply.is_stored(), "{kind}: {reply:?}");
    }
    let rows = rig.rows("stripe").await;
    assert!(
        rows.iter()
            .any(|row| row.get_str("contentType").ok() == Some("text/plain"))
    );
}
