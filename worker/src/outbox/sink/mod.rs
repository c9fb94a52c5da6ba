//! Where messages go: one file a kind of sink, each answering with the same closed
//! [`Outcome`].
//!
//! Not here: what becomes of the message then (`outbox::outcome`), and which messages go to
//! which sink (the routes of the configuration).

pub mod http;
pub(crate) mod json;
mod log;

use std::net::IpAddr;
use std::time::Duration;

use hookledger_shared::config;
use hookledger_shared::model::outbox::OutboxMessage;

use http::{Http, Special, Timeouts};

/// One destination, ready to deliver to.
#[derive(Debug)]
pub enum Sink {
    /// Writes a line, for development.
    Log,
    /// Posts it, signed as Standard Webhooks asks.
    Http(Box<Http>),
}

/// How a delivery went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// The destination took it.
    Delivered {
        /// The trail's line.
        note: String,
    },
    /// The destination did not take it, and may later.
    Retry {
        /// How long it asked us to wait, capped.
        after: Option<Duration>,
        /// What went wrong.
        failure: Failure,
    },
    /// Another try would fail the same way.
    Refused {
        /// What went wrong.
        failure: Failure,
    },
    /// It was sent and nothing came back: it may or may not have been taken.
    Unknown {
        /// What went wrong.
        failure: Failure,
    },
}

impl Outcome {
    /// The word in metrics.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Delivered { .. } => "delivered",
            Self::Retry { .. } => "retry",
            Self::Refused { .. } => "refused",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// Why a destination did not take a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub cause: Cause,
    /// A sentence for people; never a body, a secret, or an address's query.
    pub message: String,
}

/// The kinds of failures, which dead letters can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No connection came about: name, network or TLS.
    Unreachable,
    /// Its name leads to addresses that may not be called.
    ForbiddenAddress,
    /// It answered that it can't now: 408, 425, 429 or 5xx.
    Unavailable,
    /// It answered that it won't.
    Refused,
    /// It pointed elsewhere, where we don't follow.
    Redirect,
    /// It took the request and gave no answer.
    Unanswered,
    /// The message can't be written as a request.
    Unsendable,
}

impl Cause {
    /// Every cause, for documentation and its test.
    pub const ALL: [Self; 7] = [
        Self::Unreachable,
        Self::ForbiddenAddress,
        Self::Unavailable,
        Self::Refused,
        Self::Redirect,
        Self::Unanswered,
        Self::Unsendable,
    ];

    /// The word in rows and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::ForbiddenAddress => "forbidden_address",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Redirect => "redirect",
            Self::Unanswered => "unanswered",
            Self::Unsendable => "unsendable",
        }
    }
}

/// Why a configured sink can't be used at all.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Its address is written in numbers, and they may never be called.
    #[error(
        "sink \"{sink}\": {address} is {special}; name its network in allow_private if it is meant"
    )]
    ForbiddenAddress {
        /// The sink.
        sink: String,
        /// The address.
        address: IpAddr,
        /// What is special about it.
        special: Special,
    },
    /// One of its secrets is no Standard Webhooks secret.
    #[error("sink \"{sink}\": a secret is not whsec_ and base64")]
    Secret {
        /// The sink.
        sink: String,
    },
    /// It has no secret to sign with.
    #[error("sink \"{sink}\": there is no secret to sign with")]
    Unsigned {
        /// The sink.
        sink: String,
    },
    /// The HTTP client can't be made, mostly for want of trusted certificates.
    #[error("sink \"{sink}\": the HTTPS client can't be made (are CA certificates installed?)")]
    Client {
        /// The sink.
        sink: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
}

impl Sink {
    /// Makes a sink of its configuration.
    ///
    /// # Errors
    /// When it can never deliver as configured.
    pub fn build(sink: &config::Sink, timeouts: Timeouts) -> Result<Self, SinkError> {
        match &sink.kind {
            config::SinkKind::Log => Ok(Self::Log),
            config::SinkKind::Http(http) => {
                let http = Http::build(&sink.name, http, timeouts)?;
                Ok(Self::Http(Box::new(http)))
            }
        }
    }

    /// Delivers one message; `now` is in unix seconds.
    pub async fn deliver(&self, message: &OutboxMessage, now: i64) -> Outcome {
        match self {
            Self::Log => log::deliver(message),
            Self::Http(http) => http.deliver(message, now).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_cause() {
        let page = include_str!("../../../../docs/outbox.md");
        for cause in Cause::ALL {
            let named = format!("`{}`", cause.as_str());
            assert!(
                page.contains(&named),
                "docs/outbox.md does not name {named}"
            );
        }
    }
}
