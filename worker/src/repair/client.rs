//! One question to Stripe's API, and its answer, taken without trust: bounded in time and
//! length, and no redirect is followed. Never logs the key or what came.

use std::time::Duration;

use hookledger_shared::clock::unix_seconds;
use hookledger_shared::config::StripeApi;
use hookledger_shared::model::book::OWN_ACCOUNT;
use hookledger_shared::model::subscription::Subscription;
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response};
use serde_json::{Map, Value};
use url::Url;

use crate::outbox::sink::http::retry_after;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the whole answer may take.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Stripe's largest subscriptions are a small part of this, and the ledger takes it.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// The version answers are rendered in, whatever the account's own is.
const API_VERSION: &str = "2026-09-30.endive";
/// What we call ourselves.
const USER_AGENT: &str = concat!("hookledger/", env!("CARGO_PKG_VERSION"));

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// An object.
    Object(Map<String, Value>),
    /// There is none of that name.
    Missing,
    /// The key may not see it: 401 or 403.
    Refused(u16),
    /// Too many questions; how long to wait, where it says so.
    Limited(Option<Duration>),
    /// No answer, or one that is about Stripe and not about the question.
    Unavailable(Trouble),
    /// An answer that is none.
    Unreadable,
}

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No connection, or one that broke off.
    Unreachable,
    /// None in time.
    TimedOut,
    /// This status, which a question like ours does not get.
    Status(u16),
}

/// Asks with one key, at one address.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    api: StripeApi,
}

impl Client {
    /// A client for the API that is configured.
    ///
    /// # Errors
    /// When there is no TLS to be had.
    pub fn new(api: &StripeApi) -> Result<Self, reqwest::Error> {
        Self::with(api, TOTAL_TIMEOUT)
    }

    pub(super) fn with(api: &StripeApi, timeout: Duration) -> Result<Self, reqwest::Error> {
        // An error means that the process has chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let encrypted = api.base.scheme() == "https";
        let client = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(timeout)
            .redirect(Policy::none())
            .referer(false)
            // Trying again is planned, where it is counted and seen.
            .retry(reqwest::retry::never())
            .https_only(encrypted);
        let client = if encrypted {
            client.build()?
        } else {
            // This machine: no proxy between, and no certificates, which it may not have.
            client.no_proxy().tls_certs_only([]).build()?
        };
        Ok(Self {
            http: client,
            api: api.clone(),
        })
    }

    /// The mode that the key sees.
    #[must_use]
    pub fn livemode(&self) -> bool {
        self.api.livemode
    }

    /// Asks for a subscription.
    pub async fn subscription(&self, subscription: &Subscription) -> Answer {
        let Some(url) = self.address(&subscription.subscription_id) else {
            return Answer::Missing;
        };
        match self.request(url, &subscription.account).send().await {
            Ok(response) => read(response).await,
            // An account that no header can hold is none of Stripe's.
            Err(error) if error.is_builder() => Answer::Missing,
            Err(error) => Answer::Unavailable(trouble(&error)),
        }
    }

    /// Nothing for an id that an address can't hold: Stripe has no such object.
    fn address(&self, id: &str) -> Option<Url> {
        if matches!(id, "" | "." | "..") {
            return None;
        }
        let mut url = self.api.base.clone();
        let mut path = url.path_segments_mut().ok()?;
        path.pop_if_empty().extend(["v1", "subscriptions", id]);
        drop(path);
        Some(url)
    }

    fn request(&self, url: Url, account: &str) -> RequestBuilder {
        let request = self
            .http
            .get(url)
            .bearer_auth(self.api.key.expose())
            .header("Stripe-Version", API_VERSION);
        if account == OWN_ACCOUNT {
            return request;
        }
        request.header("Stripe-Account", account)
    }
}

async fn read(response: Response) -> Answer {
    let status = response.status();
    match status.as_u16() {
        200 => read_object(response).await,
        404 => Answer::Missing,
        401 | 403 => Answer::Refused(status.as_u16()),
        429 => {
            let value = response.headers().get(RETRY_AFTER);
            Answer::Limited(value.and_then(|value| retry_after::read(value, unix_seconds())))
        }
        // About this question, whatever it is.
        400..=499 => Answer::Unreadable,
        other => Answer::Unavailable(Trouble::Status(other)),
    }
}

async fn read_object(mut response: Response) -> Answer {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= MAX_ANSWER_BYTES => {
                body.extend_from_slice(&chunk);
            }
            Ok(Some(_)) => return Answer::Unreadable,
            Ok(None) => break,
            Err(error) => return Answer::Unavailable(trouble(&error)),
        }
    }
    serde_json::from_slice(&body).map_or(Answer::Unreadable, Answer::Object)
}

fn trouble(error: &reqwest::Error) -> Trouble {
    if error.is_timeout() {
        Trouble::TimedOut
    } else {
        Trouble::Unreachable
    }
}
