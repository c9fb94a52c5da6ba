//! HTTP by hand, for what no client would send.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::PATIENCE;

/// Sends the bytes, then reads until the server closes the connection.
pub(crate) async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(request).await;
    rest(&mut stream).await
}

/// All that comes until the connection ends.
pub(crate) async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut answer = Vec::new();
    let mut piece = [0; 4_096];
    loop {
        // A reset after the answer is an end as well.
        match timeout(PATIENCE, stream.read(&mut piece)).await.unwrap() {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
            Ok(read) => answer.extend_from_slice(&piece[..read]),
        }
    }
}

/// The status of the first answer in it.
pub(crate) fn status(answer: &str) -> Option<u16> {
    answer.split(' ').nth(1)?.parse().ok()
}
