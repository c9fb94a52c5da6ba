//! Everything that a stranger can send is bounded.

use std::time::{Duration, Instant};

use futures::future::join_all;
use hookledger_dev::mongo::{FailPoint, shared, wait};
use hookledger_dev::stripe::sign;
use hookledger_ingest::route::body::BODY_DEADLINE;
use hookledger_shared::clock;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::rig::program::{ConfigFile, Program, usual};
use crate::rig::raw::{exchange, rest, status};
use crate::rig::{NOW, PATIENCE, Rig, SECRET, client, event, headers, named, new_database, source};

const SMALL: usize = 2_048;

async fn with_a_small_limit() -> Rig {
    let mut small = source("small");
    small.max_body_bytes = SMALL;
    Rig::with(vec![source("stripe"), small]).await
}

/// An event of exactly this length.
fn padded(id: &str, length: usize) -> String {
    let body = event(id);
    let space = length - body.len();
    body + &" ".repeat(space)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_at_its_sources_limit_passes_and_one_byte_more_does_not() {
    let rig = with_a_small_limit().await;
    assert!(
        rig.deliver_to("small", padded("evt_1", SMALL))
            .await
            .is_stored()
    );
    let over = rig.deliver_to("small", padded("evt_2", SMALL + 1)).await;
    assert!(over.is_error(413, "too_large"), "{over:?}");
    assert!(rig.deliver(padded("evt_2", SMALL + 1)).await.is_stored());
    assert!(
        rig.deliver(padded("evt_3", 1_024 * 1_024))
            .await
            .is_stored()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announced_length_over_the_limit_is_refused_before_the_body_is_read() {
    let rig = with_a_small_limit().await;
    for length in ["2049", "99999999999", "18446744073709551615"] {
        let head =
            format!("POST /webhooks/small HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        let mut stream = TcpStream::connect(rig.running.webhook_addr).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert_eq!(status(&answer), Some(413), "{length}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_a_length_is_cut_at_the_limit() {
    let rig = with_a_small_limit().await;
    let answer = endless(&rig, "/webhooks/small").await;
    assert_eq!(status(&answer), Some(413), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_nobody_wants_is_not_read_for_ever() {
    let rig = with_a_small_limit().await;
    let answer = endless(&rig, "/webhooks/nobody").await;
    assert_eq!(status(&answer), Some(404), "{answer}");
}

/// Sends a chunked body that never ends; what comes until the server hangs up.
async fn endless(rig: &Rig, path: &str) -> String {
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("400\r\n{}\r\n", " ".repeat(0x400));
    let stream = TcpStream::connect(rig.running.webhook_addr).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    writer.write_all(head.as_bytes()).await.unwrap();
    let send = async {
        while writer.write_all(chunk.as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::join!(rest(&mut reader), send).0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_body_is_refused_and_identity_is_none() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    let signature = sign::header(body.as_bytes(), SECRET, NOW);
    let post = async |codings: &[&str]| {
        let mut pairs = vec![("stripe-signature", signature.as_bytes())];
        pairs.extend(
            codings
                .iter()
                .map(|coding| ("content-encoding", coding.as_bytes())),
        );
        rig.post("stripe", headers(&pairs), body.clone().into())
            .await
    };
    for codings in [
        &["gzip"][..],
        &["br"],
        &["identity", "gzip"],
        &["identity, gzip"],
        &[""],
    ] {
        let reply = post(codings).await;
        assert!(
            reply.is_error(415, "unsupported_encoding"),
            "{codings:?}: {reply:?}"
        );
    }
    assert!(post(&["Identity"]).await.is_stored());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_headers_is_refused() {
    let rig = Rig::start().await;
    let many: String = (0..10_000)
        .map(|number| format!("X-{number}: 1\r\n"))
        .collect();
    let long = format!("X: {}\r\n", "x".repeat(1_024 * 1_024));
    for headers in [many, long] {
        let request = format!("POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        let answer = exchange(rig.running.webhook_addr, request.as_bytes()).await;
        // A reset may overtake the answer while we are still sending.
        assert!(
            matches!(status(&answer), Some(431 | 400) | None),
            "{answer}"
        );
    }
    assert!(rig.deliver(event("evt_1")).await.is_stored());
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_senders_are_cut_off_and_others_are_served_meanwhile() {
    let rig = Rig::start().await;
    let address = rig.running.webhook_addr;
    let began = Instant::now();
    let slow_head = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"POST /webhooks/stripe HTTP/1.1\r\nHost:")
            .await
            .unwrap();
        rest(&mut stream).await
    };
    let slow_body = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
        rest(&mut stream).await
    };
    let others = async {
        for number in 0..20 {
            assert!(
                rig.deliver(event(&format!("evt_{number}")))
                    .await
                    .is_stored()
            );
        }
    };
    let (head, body, ()) = tokio::join!(slow_head, slow_body, others);
    assert!(matches!(status(&head), Some(408) | None), "{head}");
    assert_eq!(status(&body), Some(408), "{body}");
    assert!(began.elapsed() >= BODY_DEADLINE);
}

/// Only the first row is kept; the others wait for its answer, not with their bodies.
#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_large_duplicates_does_not_fill_the_memory_while_the_database_is_slow() {
    const MIB: usize = 1_024 * 1_024;
    const STORM: usize = 128;
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let settings = usual(&named(&uri, &database), &database);
    let patient = "[ingest]\n        commit_timeout_ms = 60000";
    let config = ConfigFile::new(&settings.replace("[ingest]", patient));
    let program = Program::start(&config, "off").await;
    let client = client();
    let body = padded("evt_1", MIB);
    let signature = sign::header(body.as_bytes(), SECRET, clock::unix_seconds());
    let url = format!("http://{}/webhooks/stripe", program.webhooks);
    let post = || {
        let request = client.post(&url).header("Stripe-Signature", &signature);
        request.body(body.clone()).send()
    };
    wait::until("the first delivery", PATIENCE, async || {
        Ok((post().await.unwrap().status() == 200).then_some(()))
    })
    .await
    .unwrap();

    let before = program.resident();
    let stuck = FailPoint::on_commands(["insert"])
        .app_name(&database)
        .block(Duration::from_secs(15));
    let _armed = stuck.arm(&uri).await.unwrap();
    let all_wait = wait::until("the storm to wait", PATIENCE, async || {
        let metrics = client.get(format!("http://{}/metrics", program.ops)).send();
        let metrics = metrics.await.unwrap().text().await.unwrap();
        let waiting = format!("hookledger_queue_deliveries {STORM}\n");
        Ok(metrics.contains(&waiting).then_some(()))
    });
    let storm = join_all((0..STORM).map(async |number| {
        // Not all at once, or too much is being read.
        tokio::time::sleep(Duration::from_millis(50) * u32::try_from(number).unwrap()).await;
        post().await
    }));
    tokio::select! {
        all = all_wait => all.unwrap(),
        _ = storm => panic!("answered before the database was"),
    }
    let more = program.resident().saturating_sub(before);
    assert!(more < STORM * MIB / 2, "{} MiB more", more / MIB);
}
