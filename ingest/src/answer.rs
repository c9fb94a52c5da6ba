//! Every answer a sender can get, and nothing of ours in it: a status, a short public
//! code, and where it helps a header. The cause stays in our logs and metrics.

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER};
use actix_web::{HttpResponse, HttpResponseBuilder};

use crate::commit::{CommitError, Committed};
use crate::provider::VerifyError;

/// After how many seconds an unstored delivery is welcome again. An election takes about as
/// long; providers that have their own schedule ignore it.
const RETRY_AFTER_S: u32 = 5;

/// How a delivery is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Its event is on a majority.
    Received(Committed),
    /// It is not authentic. The ledger has not been touched.
    NotAuthentic(VerifyError),
    /// Not a path of ours, or no source of that name.
    NotFound,
    /// Deliveries are posted.
    MethodNotAllowed,
    /// Longer than its source allows.
    TooLarge,
    /// Compressed: the signature is over other bytes than a body's.
    UnsupportedEncoding,
    /// The body did not come in time.
    TooSlow,
    /// The body broke off, or is no HTTP.
    BrokenBody,
    /// Not stored, or not known to be.
    Unavailable(Unavailable),
}

/// Why a delivery could not be stored: for our metrics. The sender hears one word for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The process stops.
    Stopping,
    /// Too many bodies are being read.
    Crowded,
    /// No commit.
    Commit(CommitError),
}

impl From<Unavailable> for Answer {
    fn from(why: Unavailable) -> Self {
        Self::Unavailable(why)
    }
}

impl From<Result<Committed, CommitError>> for Answer {
    fn from(result: Result<Committed, CommitError>) -> Self {
        match result {
            Ok(committed) => Self::Received(committed),
            Err(error) => Self::Unavailable(Unavailable::Commit(error)),
        }
    }
}

impl Answer {
    /// The HTTP status. Never a redirect: providers count those as failures.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Received(_) => StatusCode::OK,
            Self::NotAuthentic(_) | Self::BrokenBody => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The word for it in metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Received(Committed::Stored) => "stored",
            Self::Received(Committed::Duplicate) => "duplicate",
            Self::NotAuthentic(error) => error.code(),
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::TooSlow => "too_slow",
            Self::BrokenBody => "broken_body",
            Self::Unavailable(why) => why.label(),
        }
    }

    /// What the sender reads.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Received(Committed::Stored) => r#"{"received":true}"#.to_owned(),
            Self::Received(Committed::Duplicate) => {
                r#"{"received":true,"duplicate":true}"#.to_owned()
            }
            Self::Unavailable(_) => error("unavailable"),
            Self::NotAuthentic(_)
            | Self::NotFound
            | Self::MethodNotAllowed
            | Self::TooLarge
            | Self::UnsupportedEncoding
            | Self::TooSlow
            | Self::BrokenBody => error(self.label()),
        }
    }

    /// Status and headers. `last` asks the sender to connect anew.
    #[must_use]
    pub fn head(self, last: bool) -> HttpResponseBuilder {
        let mut head = HttpResponse::build(self.status());
        head.content_type("application/json");
        match self {
            Self::Unavailable(_) => {
                head.insert_header((RETRY_AFTER, RETRY_AFTER_S));
            }
            Self::MethodNotAllowed => {
                head.insert_header((ALLOW, "POST"));
            }
            Self::Received(_)
            | Self::NotAuthentic(_)
            | Self::NotFound
            | Self::TooLarge
            | Self::UnsupportedEncoding
            | Self::TooSlow
            | Self::BrokenBody => {}
        }
        if last {
            head.force_close();
        }
        head
    }
}

impl Unavailable {
    fn label(self) -> &'static str {
        match self {
            Self::Stopping | Self::Commit(CommitError::Closed) => "stopping",
            Self::Crowded => "crowded",
            Self::Commit(CommitError::NotReady) => "not_ready",
            Self::Commit(CommitError::Full) => "queue_full",
            Self::Commit(CommitError::TimedOut) => "commit_timed_out",
            Self::Commit(CommitError::Unknown) => "not_stored",
            Self::Commit(CommitError::Refused) => "refused_by_database",
        }
    }
}

fn error(code: &str) -> String {
    format!(r#"{{"error":"{code}"}}"#)
}
