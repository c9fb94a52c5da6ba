//! One delivery, from its bytes to its answer: read, verify, note what it is, commit.
//! Nothing is parsed, decompressed or re-encoded before the signature is checked, and
//! nothing that is not authentic reaches the database.

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use actix_web::{HttpRequest, HttpResponse, web};

use super::body::{self, BodyError};
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
    payload: web::Payload,
    ingest: web::Data<Ingest>,
) -> HttpResponse {
    let Some(receiver) = ingest.receivers.get(name.as_str()) else {
        return answered(&ingest, NOBODY, Answer::NotFound);
    };
    let answer = match receive(&ingest, receiver, request.headers(), payload).await {
        Ok(answer) | Err(answer) => answer,
    };
    answered(&ingest, name.as_str(), answer)
}

/// The path of a source, but no `POST`.
pub async fn wrong_method(name: web::Path<String>, ingest: web::Data<Ingest>) -> HttpResponse {
    if ingest.receivers.contains_key(name.as_str()) {
        answered(&ingest, name.as_str(), Answer::MethodNotAllowed)
    } else {
        answered(&ingest, NOBODY, Answer::NotFound)
    }
}

/// No path of ours.
pub async fn not_found(ingest: web::Data<Ingest>) -> HttpResponse {
    answered(&ingest, NOBODY, Answer::NotFound)
}

fn answered(ingest: &Ingest, source: &str, answer: Answer) -> HttpResponse {
    ingest.metrics.answered(source, answer.label());
    answer.response(ingest.shutdown.is_requested())
}

/// Both ways out are answers; `Err` only means that it was decided early.
async fn receive(
    ingest: &Ingest,
    receiver: &Receiver,
    headers: &HeaderMap,
    payload: web::Payload,
) -> Result<Answer, Answer> {
    if ingest.shutdown.is_requested() {
        return Err(Unavailable::Stopping.into());
    }
    if is_encoded(headers) {
        return Err(Answer::UnsupportedEncoding);
    }
    let source = &receiver.source;
    let read = body::read(headers, payload, source.max_body_bytes, &ingest.reading);
    let body = read.await.map_err(refused)?;
    let now = ingest.clock.unix_seconds();
    let verified = receiver.verifier.verify(headers, body, now);
    let verified = verified.map_err(|error| not_authentic(ingest, &source.name, error))?;
    ingest
        .metrics
        .secret_matched(&source.name, &verified.secret().to_string());
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let event = receipt::read(&verified, source, content_type, ingest.server_clock.now());
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
