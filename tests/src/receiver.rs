//! An HTTP server that takes deliveries and remembers them; it can hold its answer back, or
//! answer with any status.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use hookledger_shared::task;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// One delivery as it came.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Delivery {
    /// What a receiver deduplicates by.
    #[must_use]
    pub fn id(&self) -> &str {
        self.headers.get("webhook-id").map_or("", String::as_str)
    }
}

/// How it treats who comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Answers with this status.
    Answer(u16),
    /// Takes the request and says nothing until the manner changes.
    Hold,
}

/// The server. It ends with its runtime.
#[derive(Debug, Clone)]
pub struct Receiver {
    address: SocketAddr,
    deliveries: Arc<Mutex<Vec<Delivery>>>,
    manner: watch::Sender<Manner>,
}

impl Receiver {
    /// Starts it on a free port; it answers 200.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Self {
            address: listener.local_addr()?,
            deliveries: Arc::default(),
            manner: watch::Sender::new(Manner::Answer(200)),
        };
        let serving = receiver.clone();
        task::spawn("receiver", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                task::spawn("receiver connection", async move {
                    // A client that goes away is the point of some tests.
                    let _ = serving.serve(stream).await;
                });
            }
        });
        Ok(receiver)
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Changes its manner, also for requests that it holds.
    pub fn behave(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// Everything that came so far, in order.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How often each id came.
    #[must_use]
    pub fn counts(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for delivery in self.deliveries() {
            *counts.entry(delivery.id().to_owned()).or_default() += 1;
        }
        counts
    }

    async fn serve(&self, stream: TcpStream) -> Result<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let Some(delivery) = read(&mut stream).await? else {
                return Ok(());
            };
            self.deliveries
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(delivery);
            let mut manner = self.manner.subscribe();
            let answers = |manner: &Manner| matches!(manner, Manner::Answer(_));
            let Manner::Answer(status) = *manner.wait_for(answers).await? else {
                return Ok(());
            };
            let answer = format!("HTTP/1.1 {status} Status\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await?;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<Delivery>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").context("no content-length")?;
    let mut body = vec![0; length.parse()?];
    stream.read_exact(&mut body).await?;
    Ok(Some(Delivery { headers, body }))
}
