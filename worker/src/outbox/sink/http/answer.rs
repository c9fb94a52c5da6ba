//! What an answer means, and what it means when there is none.

use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use reqwest::StatusCode;

use super::resolver::Forbidden;
use crate::outbox::sink::{Cause, Failure, Outcome};

/// No error's chain is worth more characters than this in a row.
const MAX_MESSAGE_CHARACTERS: usize = 300;

/// What `status` means. Only a few words of 4xx are about now and not about the message.
pub(super) fn judge(status: StatusCode, retry_after: Option<Duration>, took: Duration) -> Outcome {
    let code = status.as_u16();
    let answered = format!("answered {code} in {} ms", took.as_millis());
    let failure = |cause| Failure {
        cause,
        message: answered.clone(),
    };
    match code {
        200..=299 => Outcome::Delivered {
            note: format!("delivered: {answered}"),
        },
        408 | 425 | 429 | 500.. => Outcome::Retry {
            after: retry_after,
            failure: failure(Cause::Unavailable),
        },
        300..=399 => Outcome::Refused {
            failure: Failure {
                cause: Cause::Redirect,
                message: format!("{answered}; redirects are not followed"),
            },
        },
        0..=199 | 400..=499 => Outcome::Refused {
            failure: failure(Cause::Refused),
        },
    }
}

/// What it means that no answer came. Without a connection nothing was sent; after that
/// the receiver may have taken it, whatever happened then.
pub(super) fn missing(error: reqwest::Error, took: Duration) -> Outcome {
    let failure = |cause, message| Failure { cause, message };
    if let Some(forbidden) = Forbidden::behind(&error) {
        // Where a name leads may change, and nothing was sent: an odd answer of a resolver
        // must not bury everything at once.
        return Outcome::Retry {
            after: None,
            failure: failure(Cause::ForbiddenAddress, forbidden.to_string()),
        };
    }
    let (is_connect, is_builder) = (error.is_connect(), error.is_builder());
    let why = chain(&error.without_url());
    if is_connect {
        return Outcome::Retry {
            after: None,
            failure: failure(Cause::Unreachable, format!("no connection: {why}")),
        };
    }
    if is_builder {
        return Outcome::Refused {
            failure: failure(Cause::Unsendable, format!("no request: {why}")),
        };
    }
    let message = format!(
        "sent, and no answer after {} ms ({why}): it may have been taken; the same key goes \
         with the next try",
        took.as_millis()
    );
    Outcome::Unknown {
        failure: failure(Cause::Unanswered, message),
    }
}

/// The message can't be written as JSON.
pub(super) fn unsendable(error: &serde_json::Error) -> Outcome {
    Outcome::Refused {
        failure: Failure {
            cause: Cause::Unsendable,
            message: format!("the payload can't be written as JSON: {error}"),
        },
    }
}

/// What is behind an error, from the outside in. The client's own outermost words ("error
/// sending request") say nothing when there is more.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = error.source().or(Some(error));
    while let Some(error) = next {
        let colon = if text.is_empty() { "" } else { ": " };
        // Writing into a string can't fail.
        let _ = write!(text, "{colon}{error}");
        next = error.source();
    }
    text.chars().take(MAX_MESSAGE_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_one_meaning() {
        let wait = Some(Duration::from_secs(9));
        for code in 100..=999 {
            let status = StatusCode::from_u16(code).unwrap();
            let outcome = judge(status, wait, Duration::ZERO);
            match code {
                200..=299 => assert!(matches!(outcome, Outcome::Delivered { .. }), "{code}"),
                408 | 425 | 429 | 500..=999 => {
                    let Outcome::Retry { after, failure } = outcome else {
                        panic!("{code} is no retry");
                    };
                    assert_eq!((after, failure.cause), (wait, Cause::Unavailable), "{code}");
                }
                _ => {
                    let Outcome::Refused { failure } = outcome else {
                        panic!("{code} is no refusal");
                    };
                    let redirect = (300..400).contains(&code);
                    let cause = if redirect {
                        Cause::Redirect
                    } else {
                        Cause::Refused
                    };
                    assert_eq!(failure.cause, cause, "{code}");
                }
            }
        }
    }

    #[test]
    fn an_errors_chain_is_told_from_the_outside_in_and_cut() {
        let inner = std::io::Error::other("x".repeat(1_000));
        let text = chain(&std::io::Error::other(inner));
        assert!(text.starts_with("xxx"), "{text}");
        assert_eq!(text.chars().count(), MAX_MESSAGE_CHARACTERS);
    }
}
