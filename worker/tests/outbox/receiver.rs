//! A destination on loopback that does what it is told, also what no HTTP server would do.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hookledger_shared::task;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// What it does with a connection.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Answers with this status and these header lines.
    Status(u16, Vec<String>),
    /// Answers 200 once it is told to.
    Held(Arc<Notify>),
    /// Reads the request and never answers.
    Hang,
    /// Resets the connection without reading the request.
    ResetUnread,
    /// Reads the request, then resets the connection.
    ResetAfterRequest,
    /// Closes the connection within the head of its answer.
    HalfHead,
    /// Promises a longer body than it sends with its 200.
    HalfBody,
    /// Answers 200 with a body that never ends.
    EndlessBody,
    /// Answers 200, and its body comes a byte now and then.
    TricklingBody,
    /// Answers with header lines without end.
    EndlessHead,
    /// Says something that is no HTTP.
    Garbage,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Status(status, Vec::new())
    }

    pub(crate) fn with(status: u16, header: impl Into<String>) -> Self {
        Self::Status(status, vec![header.into()])
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What the connections share.
struct Script {
    /// The last one is for every further connection.
    replies: Mutex<VecDeque<Reply>>,
    requests: watch::Sender<Vec<Request>>,
    connections: watch::Sender<usize>,
}

/// The destination. It ends with the test's runtime.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
}

impl Receiver {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Script {
            replies: Mutex::new(replies.into_iter().collect()),
            requests: watch::Sender::new(Vec::new()),
            connections: watch::Sender::new(0),
        });
        let shared = Arc::clone(&script);
        task::spawn("receiver", async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.send_modify(|count| *count += 1);
                let shared = Arc::clone(&shared);
                task::spawn("receiver's connection", async move {
                    // The sender may well go away: that is its own affair.
                    let _ = serve(stream, &shared).await;
                });
            }
        });
        Self { address, script }
    }

    /// What it does from the next connection on.
    pub(crate) fn replies(&self, reply: Reply) {
        *self.script.replies.lock().unwrap() = VecDeque::from([reply]);
    }

    /// Forgets what was asked of it.
    pub(crate) fn forget(&self) {
        self.script.requests.send_modify(Vec::clear);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Everything that was asked of it so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.script.requests.borrow().clone()
    }

    /// The only request there was.
    pub(crate) fn only_request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1);
        requests.remove(0)
    }

    pub(crate) fn connections(&self) -> usize {
        *self.script.connections.borrow()
    }

    /// Waits until there have been so many requests.
    pub(crate) async fn has_seen(&self, count: usize) {
        let mut requests = self.script.requests.subscribe();
        let seen = requests.wait_for(|requests| requests.len() >= count);
        seen.await.unwrap();
    }
}

async fn serve(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
    let reply = {
        let mut replies = script.replies.lock().unwrap();
        let next = replies.pop_front().unwrap_or_else(|| Reply::status(200));
        if replies.is_empty() {
            replies.push_back(next.clone());
        }
        next
    };
    if matches!(reply, Reply::ResetUnread) {
        // Before anything is sent it would be a connection that never came about.
        stream.readable().await?;
        return stream.set_zero_linger();
    }
    let request = read(&mut stream).await?;
    script
        .requests
        .send_modify(|requests| requests.push(request));
    answer(stream, reply).await
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default().to_owned();
    let pairs = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<String, String> = pairs
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Request {
        line,
        headers,
        body,
    })
}

async fn answer(mut stream: TcpStream, reply: Reply) -> std::io::Result<()> {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    match reply {
        Reply::Status(status, headers) => write_status(&mut stream, status, &headers).await?,
        Reply::Held(gate) => {
            gate.notified().await;
            write_status(&mut stream, 200, &[]).await?;
        }
        Reply::Hang => std::future::pending().await,
        Reply::ResetUnread | Reply::ResetAfterRequest => stream.set_zero_linger()?,
        Reply::HalfHead => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-").await?,
        Reply::HalfBody => {
            let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
            stream.write_all(half).await?;
        }
        Reply::EndlessBody => {
            stream.write_all(CHUNKED.as_bytes()).await?;
            let chunk = [b"4000\r\n".as_slice(), &[b'x'; 0x4000], b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).await?;
            }
        }
        Reply::TricklingBody => {
            stream.write_all(CHUNKED.as_bytes()).await?;
            loop {
                stream.write_all(b"1\r\nx\r\n").await?;
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
        Reply::EndlessHead => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            loop {
                stream.write_all(b"x-more: and more\r\n").await?;
            }
        }
        Reply::Garbage => stream.write_all(b"220 mail.example.com ESMTP\r\n").await?,
    }
    Ok(())
}

async fn write_status(
    stream: &mut TcpStream,
    status: u16,
    headers: &[String],
) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("content-length: 2\r\n\r\nok");
    stream.write_all(head.as_bytes()).await?;
    stream.shutdown().await
}
