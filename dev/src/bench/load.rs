//! The load: signed deliveries over kept connections, each connection one delivery at a
//! time. Everything that costs the client is done before the clock starts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use hookledger_shared::{clock, task};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::figures::Run;
use crate::stack::settings::STRIPE_SECRET;
use crate::stripe::sign;

/// How long a body is: what a Stripe subscription event has.
pub(super) const BODY_BYTES: usize = 2_500;

/// A Stripe event of the given length with an id of its own.
#[must_use]
pub(super) fn body(run: u64, number: usize) -> String {
    let head = format!(
        r#"{{"id":"evt_bench_{run}_{number}","object":"event","api_version":"2025-09-30.clover","created":1790000000,"livemode":false,"pending_webhooks":1,"type":"bench.delivered","request":{{"id":null,"idempotency_key":null}},"data":{{"object":{{"id":"obj_{number}","object":"thing","description":""#
    );
    let tail = r#""}}}"#;
    let filler = "x".repeat(BODY_BYTES.saturating_sub(head.len() + tail.len()));
    format!("{head}{filler}{tail}")
}

/// A whole HTTP request, signed now.
#[must_use]
pub(super) fn request(body: &str) -> Vec<u8> {
    let signature = sign::header(body.as_bytes(), STRIPE_SECRET, clock::unix_seconds());
    format!(
        "POST /webhooks/stripe HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         {}: {signature}\r\ncontent-length: {}\r\n\r\n{body}",
        sign::HEADER,
        body.len()
    )
    .into_bytes()
}

/// Sends all requests over so many connections; each must be answered 200.
///
/// # Errors
/// When one is not.
pub(super) async fn run(
    address: SocketAddr,
    connections: usize,
    requests: Vec<Vec<u8>>,
) -> Result<Run> {
    let requests = Arc::new(requests);
    let next = Arc::new(AtomicUsize::new(0));
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let started = Instant::now();
    let clients = streams.into_iter().map(|stream| {
        let (requests, next) = (requests.clone(), next.clone());
        let client = task::spawn("client", client(stream, requests, next));
        async move { client.await? }
    });
    let latencies = try_join_all(clients).await?;
    Ok(Run::of(latencies.concat(), started.elapsed()))
}

async fn client(
    stream: TcpStream,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
) -> Result<Vec<Duration>> {
    let mut stream = BufReader::new(stream);
    let mut latencies = Vec::new();
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let sent = Instant::now();
        stream.write_all(request).await?;
        answer(&mut stream).await?;
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

async fn answer(stream: &mut BufReader<TcpStream>) -> Result<()> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    ensure!(line.contains(" 200 "), "answered {}", line.trim());
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().context("content-length")?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(())
}
