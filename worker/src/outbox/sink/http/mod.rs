//! Posting a message to an address, signed as Standard Webhooks asks.
//!
//! Reading order: [`address`] (which addresses may be called), `resolver` (so that the
//! connection goes to the address that was checked), `body`, `signature`, `answer` (what an
//! answer or its absence means).

pub mod address;
mod answer;
mod body;
mod resolver;
pub(crate) mod retry_after;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use hookledger_shared::config::HttpSink;
use hookledger_shared::model::outbox::OutboxMessage;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response};
use tokio::time::{Instant, timeout};
use url::Url;

pub use address::Special;

use super::{Outcome, SinkError};
use address::AllowedAddresses;
use resolver::Resolver;
use signature::Signer;

/// How long a connection may take to come about, with its name and TLS. A healthy one takes
/// well under a second from anywhere.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a whole delivery may take. A receiver should take the message and work later;
/// one that needs longer than this holds our slot for its work.
pub const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);

/// So much of an answer is read, so that its connection can be used again. More than this
/// is no answer to a webhook, and closing the connection is cheaper.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The answer's status is all that counts; its body may not hold the slot for longer.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);
/// What we call ourselves.
const USER_AGENT: &str = concat!("hookledger/", env!("CARGO_PKG_VERSION"));

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the answer is there, from the start.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: CONNECT_TIMEOUT,
            total: TOTAL_TIMEOUT,
        }
    }
}

/// An address that messages are posted to.
#[derive(Debug)]
pub struct Http {
    client: Client,
    url: Url,
    signer: Signer,
}

impl Http {
    pub(super) fn build(
        sink: &str,
        http: &HttpSink,
        timeouts: Timeouts,
    ) -> Result<Self, SinkError> {
        let allowed = AllowedAddresses::of(http);
        if let Some((address, special)) = allowed.refuses_host(&http.url) {
            return Err(SinkError::ForbiddenAddress {
                sink: sink.to_owned(),
                address,
                special,
            });
        }
        let client = client(&http.url, allowed, timeouts).map_err(|source| SinkError::Client {
            sink: sink.to_owned(),
            source,
        })?;
        Ok(Self {
            client,
            url: http.url.clone(),
            signer: Signer::new(sink, &http.secrets)?,
        })
    }

    /// Posts it once.
    pub(super) async fn deliver(&self, message: &OutboxMessage, now: i64) -> Outcome {
        let id = signature::header_id(&message.delivery_id());
        let body = match body::render(&id, message) {
            Ok(body) => body,
            Err(error) => return answer::unsendable(&error),
        };
        let started = Instant::now();
        match self.request(&id, body, now).send().await {
            Ok(response) => {
                let retry_after = response.headers().get(RETRY_AFTER);
                let retry_after = retry_after.and_then(|value| retry_after::read(value, now));
                let took = started.elapsed();
                let outcome = answer::judge(response.status(), retry_after, took);
                drain(response).await;
                outcome
            }
            Err(error) => answer::missing(error, started.elapsed()),
        }
    }

    fn request(&self, id: &str, body: Vec<u8>, now: i64) -> RequestBuilder {
        let signature = self.signer.sign(id, now, &body);
        self.client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", now.to_string())
            .header("webhook-signature", signature)
            .header("idempotency-key", id)
            .body(body)
    }
}

/// A client that goes nowhere but to `url`'s own, checked addresses: no redirects, and no
/// proxy, which would look names up where we can't check them.
fn client(
    url: &Url,
    allowed: AllowedAddresses,
    timeouts: Timeouts,
) -> Result<Client, reqwest::Error> {
    // An error means that the process has chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let encrypted = url.scheme() == "https";
    let client = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(timeouts.connect)
        .timeout(timeouts.total)
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        // Trying again is the outbox's business, where it is counted and written down.
        .retry(reqwest::retry::never())
        .https_only(encrypted)
        .dns_resolver(Arc::new(Resolver::new(allowed)));
    if encrypted {
        return client.build();
    }
    // Without TLS a machine needs no trusted certificates, and may have none.
    client.tls_certs_only([]).build()
}

/// Reads what is left of an answer, so that the connection can be used again; an answer
/// that is too long or too slow costs its connection.
async fn drain(mut response: Response) {
    let reading = async {
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            read += chunk.len();
            if read > MAX_ANSWER_BYTES {
                return;
            }
        }
    };
    // Its status has been judged already: nothing in the body changes that.
    let _ = timeout(BODY_TIMEOUT, reading).await;
}
