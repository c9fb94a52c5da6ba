//! Reading a body as raw bytes, bounded in every way: its length, the time it may take, and
//! what all bodies that are being read may hold together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::http::header::{CONTENT_LENGTH, HeaderMap};
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;

/// How long a body may take, first byte to last. Providers send theirs at once; the
/// shortest-tempered of them gives up after three seconds.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// What all bodies that are being read may hold together: sixty-four of the default limit.
/// Strangers can send bodies too, so their number alone must not fill the memory.
pub const MAX_READING_BYTES: usize = 64 * 1_024 * 1_024;

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Longer than allowed, by its own word or by what came.
    #[error("the body is too large")]
    TooLarge,
    /// Not there in time.
    #[error("the body did not come within {BODY_DEADLINE:?}")]
    TooSlow,
    /// It broke off, or was no HTTP.
    #[error("the body broke off")]
    Broken,
    /// Too much is being read already.
    #[error("too many bodies are being read")]
    Crowded,
}

/// How many bytes of bodies that are being read are held.
#[derive(Debug, Default)]
pub struct Reading(AtomicUsize);

/// One body's part of it, given back when dropped.
struct Share<'a> {
    of: &'a Reading,
    bytes: usize,
}

impl Share<'_> {
    fn grow(&mut self, bytes: usize) -> Result<(), BodyError> {
        let before = self.of.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if before + bytes > MAX_READING_BYTES {
            return Err(BodyError::Crowded);
        }
        Ok(())
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.of.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The body, of at most `limit` bytes.
///
/// # Errors
/// When it says or turns out to be longer, takes too long, or breaks off.
pub async fn read(
    headers: &HeaderMap,
    payload: &mut Payload,
    limit: usize,
    reading: &Reading,
) -> Result<Bytes, BodyError> {
    let announced = announced(headers);
    if announced.is_some_and(|length| length > limit) {
        return Err(BodyError::TooLarge);
    }
    let read = collect(payload, limit, announced.unwrap_or_default(), reading);
    tokio::time::timeout(BODY_DEADLINE, read)
        .await
        .unwrap_or(Err(BodyError::TooSlow))
}

/// `Content-Length`; the HTTP library has refused one that is wrong or there twice. Without
/// it the body is chunked.
fn announced(headers: &HeaderMap) -> Option<usize> {
    let length = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    // What does not fit is certainly too long.
    Some(length.parse().unwrap_or(usize::MAX))
}

async fn collect(
    payload: &mut Payload,
    limit: usize,
    announced: usize,
    reading: &Reading,
) -> Result<Bytes, BodyError> {
    let mut share = Share {
        of: reading,
        bytes: 0,
    };
    let mut next = async || {
        let chunk = payload.next().await.transpose();
        let chunk = chunk.map_err(|_| BodyError::Broken)?;
        if let Some(chunk) = &chunk {
            share.grow(chunk.len())?;
            if share.bytes > limit {
                return Err(BodyError::TooLarge);
            }
        }
        Ok(chunk)
    };
    // Most bodies come in one piece, which is then never copied.
    let Some(first) = next().await? else {
        return Ok(Bytes::new());
    };
    let Some(second) = next().await? else {
        return Ok(first);
    };
    // Not more ahead than has come so far: a length is only a promise.
    let expected = announced.min(2 * (first.len() + second.len()));
    let mut whole = BytesMut::with_capacity(expected);
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&second);
    while let Some(chunk) = next().await? {
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}
