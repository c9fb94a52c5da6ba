//! An answer that is out before its request has been read to the end.
//!
//! The HTTP library drains a chunked body that nobody reads any more, for as long as it
//! comes, to keep the connection alive. While the body is still held it closes the
//! connection after the answer instead. So the answer holds it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::Payload;
use bytes::Bytes;

/// The text of an answer, with the request's body that it was given without.
pub(super) struct Unread {
    text: Bytes,
    _body: Payload,
}

impl Unread {
    pub(super) fn new(text: Bytes, body: Payload) -> Self {
        Self { text, _body: body }
    }
}

impl MessageBody for Unread {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.text.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let text = std::mem::take(&mut self.text);
        Poll::Ready((!text.is_empty()).then_some(Ok(text)))
    }
}
