//! One delivery, from its bytes to its answer: read, verify, note what it is, commit.
//! Nothing is parsed, decompressed or re-encoded before the signature is checked, and
//! nothing that is not authentic reaches the database.

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use actix_web::web::{self, Data, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::Bytes;

use super::body::{self, BodyError};
use super::unread::Unread;
use crate::answer::{Answer, Unavailable};
use crate::app::{Ingest, Receiver};
use crate::provider::VerifyError;
use crate::receipt;

/// The label of what was meant for no source of ours.
const NOBODY: &str = "unknown";

/// `POST /webhooks/{source}`.
pub async fn deliver(
    request: HttpRequest,
    name: web::Path<String>,
    mut payload: Payload,
    ingest: Data<Ingest>,
) -> HttpResponse {
    let Some(receiver) = ingest.receivers.get(name.as_str()) else {
        return answer_unread(&ingest, NOBODY, Answer::NotFound, payload);
    };
    match read(&ingest, receiver, request.headers(), &mut payload).await {
        Ok(body) => {
            let answer = receive(&ingest, receiver, request.headers(), body).await;
            let answer = answer.unwrap_or_else(|error| not_authentic(&ingest, &name, error));
            let (text, mut head) = answered(&ingest, &name, answer);
            head.body(text)
        }
        Err(answer) => answer_unread(&ingest, &name, answer, payload),
    }
}

/// The path of a source, but no `POST`.
pub async fn wrong_method(
    name: web::Path<String>,
    payload: Payload,
    ingest: Data<Ingest>,
) -> HttpResponse {
    if ingest.receivers.contains_key(name.as_str()) {
        answer_unread(&ingest, &name, Answer::MethodNotAllowed, payload)
    } else {
        answer_unread(&ingest, NOBODY, Answer::NotFound, payload)
    }
}

/// No path of ours.
pub async fn not_found(payload: Payload, ingest: Data<Ingest>) -> HttpResponse {
    answer_unread(&ingest, NOBODY, Answer::NotFound, payload)
}

fn answered(ingest: &Ingest, source: &str, answer: Answer) -> (String, HttpResponseBuilder) {
    ingest.metrics.answered(source, answer.label());
    (answer.text(), answer.head(ingest.shutdown.is_requested()))
}

fn answer_unread(ingest: &Ingest, source: &str, answer: Answer, body: Payload) -> HttpResponse {
    let (text, mut head) = answered(ingest, source, answer);
    head.body(Unread::new(text.into(), body))
}

/// The body, or the answer if it is not even wanted.
async fn read(
    ingest: &Ingest,
    receiver: &Receiver,
    headers: &HeaderMap,
    payload: &mut Payload,
) -> Result<Bytes, Answer> {
    if ingest.shutdown.is_requested() {
        return Err(Unavailable::Stopping.into());
    }
    if is_encoded(headers) {
        return Err(Answer::UnsupportedEncoding);
    }
    let limit = receiver.source.max_body_bytes;
    let read = body::read(headers, payload, limit, &ingest.reading);
    read.await.map_err(refused)
}

/// Verify, note what it is, commit.
async fn receive(
    ingest: &Ingest,
    receiver: &Receiver,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Answer, VerifyError> {
    let source = &receiver.source;
    let now = ingest.clock.unix_seconds();
    let verified = receiver.verifier.verify(headers, body, now)?;
    let secret = verified.secret().to_string();
    ingest.metrics.secret_matched(&source.name, &secret);
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let event = receipt::read(&verified, source, content_type, ingest.server_clock.now());
    // The row has a copy. A duplicate's row is let go of at once, and its body with it.
    drop(verified);
    let committed = ingest.committer.commit(event, source.commit_timeout).await;
    Ok(committed.into())
}

/// Any coding but `identity`: the signature is over the bytes before it.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

fn refused(error: BodyError) -> Answer {
    match error {
        BodyError::TooLarge => Answer::TooLarge,
        BodyError::TooSlow => Answer::TooSlow,
        BodyError::Broken => Answer::BrokenBody,
        BodyError::Crowded => Unavailable::Crowded.into(),
    }
}

fn not_authentic(ingest: &Ingest, source: &str, error: VerifyError) -> Answer {
    ingest.metrics.signature_failed(source, error.code());
    tracing::debug!(source, reason = error.code(), "a delivery is not authentic");
    Answer::NotAuthentic(error)
}
