//! Sends a signed body to an endpoint, as Stripe does, and brings back its answer.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};

use super::sign;

/// Stripe doesn't publish its own; its command-line tool waits this long.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What an endpoint answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Any 2xx is a receipt; everything else makes Stripe try again.
    pub status: StatusCode,
    /// The `Retry-After` header, as sent.
    pub retry_after: Option<String>,
    /// The text of the answer.
    pub body: String,
}

/// Sends deliveries to one endpoint, over connections that are kept.
#[derive(Clone, Debug)]
pub struct Sender {
    client: Client,
    url: Url,
    secret: String,
}

impl Sender {
    /// A sender for the endpoint at this address with this signing secret.
    ///
    /// # Errors
    /// When the address is no URL.
    pub fn new(url: &str, secret: &str) -> Result<Self> {
        let url = Url::parse(url).with_context(|| format!("{url} is no URL"))?;
        Ok(Self {
            client: plain_client()?,
            url,
            secret: secret.to_owned(),
        })
    }

    /// Signs the body at this time (unix seconds) and sends it.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, body: &[u8], at: i64) -> Result<Answer> {
        let request = self
            .client
            .post(self.url.clone())
            .header("Content-Type", "application/json; charset=utf-8");
        let signed = request.header(sign::HEADER, sign::header(body, &self.secret, at));
        let response = signed
            .body(body.to_vec())
            .send()
            .await
            .context("no answer")?;
        let status = response.status();
        let retry_after = response.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok().map(str::to_owned));
        Ok(Answer {
            status,
            retry_after,
            body: response.text().await.context("the answer broke off")?,
        })
    }
}

/// An HTTP client that behaves as Stripe does: it counts a redirect as a failure.
///
/// # Errors
/// When the client can't be made.
pub fn plain_client() -> Result<Client> {
    // The client insists on a TLS library even for plain HTTP. An error means that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(TIMEOUT)
        .redirect(Policy::none())
        .build();
    client.context("cannot make an HTTP client")
}
