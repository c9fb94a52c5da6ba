//! As much of HTTP as the API needs: questions without bodies, answers with JSON.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
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

/// The next question; nothing when there is none any more.
pub(super) async fn read(stream: &mut BufReader<TcpStream>) -> Result<Option<Asked>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).context("no request line")?;
    let path = path.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok(Some(Asked { path, headers }));
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
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
