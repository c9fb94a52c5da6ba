//! As much of HTTP as the API needs: questions without bodies, objects to be put, answers
//! with JSON.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// One question as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What was asked for.
    pub path: String,
    headers: HashMap<String, String>,
}

impl Asked {
    /// A header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What may come.
#[derive(Debug)]
pub(super) enum Request {
    /// A question.
    Ask(Asked),
    /// An object that is true from now on.
    Put(Value),
}

/// What is answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<u32>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            retry_after: None,
            body: body.to_string(),
        }
    }
}

/// The next request; nothing when there is none any more.
pub(super) async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next(), words.next().context("no request line")?);
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    if method.as_deref() != Some("PUT") {
        return Ok(Some(Request::Ask(Asked { path, headers })));
    }
    let length = headers.get("content-length").context("no content-length")?;
    let mut body = vec![0; length.parse()?];
    stream.read_exact(&mut body).await?;
    Ok(Some(Request::Put(serde_json::from_slice(&body)?)))
}

pub(super) async fn write(stream: &mut BufReader<TcpStream>, answer: &Answer) -> Result<()> {
    let length = answer.body.len();
    let wait = answer
        .retry_after
        .map(|wait| format!("retry-after: {wait}\r\n"));
    let head = format!(
        "HTTP/1.1 {} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{}\r\n",
        answer.status,
        wait.unwrap_or_default(),
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(answer.body.as_bytes()).await?;
    stream.flush().await?;
    Ok(())
}
