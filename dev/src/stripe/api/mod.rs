//! Stripe's API as far as repair asks it: subscriptions by id, over real HTTP on loopback.
//! It holds the truth that a test says, remembers who asked, and can be as bad as it is told.
//! From outside the process the truth is said by a PUT of the object to its own address,
//! which Stripe does not have.

mod http;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use hookledger_shared::task;
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub use http::Asked;

/// A key that it takes. Worth nothing anywhere else.
pub const KEY: &str = "rk_test_development_only_not_a_secret";

/// How it treats who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manner {
    /// Answers with the truth.
    Truth,
    /// Looks the truth up and keeps it to itself until the manner changes: what is answered
    /// then was true before.
    Hold,
    /// Answers with this status and no object.
    Status(u16),
    /// Too many questions: wait so many seconds.
    Limit(u32),
    /// Answers something that is not JSON.
    Garbage,
    /// Answers with more than anyone should read.
    Big,
}

#[derive(Debug, Default)]
struct State {
    objects: HashMap<String, Value>,
    asked: Vec<Asked>,
}

/// The server. It ends with its runtime.
#[derive(Debug, Clone)]
pub struct Api {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    manner: watch::Sender<Manner>,
}

impl Api {
    /// Starts it on a free port, without an object, answering with the truth.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start() -> Result<Self> {
        Self::start_at("127.0.0.1:0").await
    }

    /// The same, at this address.
    ///
    /// # Errors
    /// When it is taken.
    pub async fn start_at(address: &str) -> Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let api = Self {
            address: listener.local_addr()?,
            state: Arc::default(),
            manner: watch::Sender::new(Manner::Truth),
        };
        let serving = api.clone();
        task::spawn("stripe api", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                task::spawn("stripe api connection", async move {
                    // A client that goes away is the point of some tests.
                    let _ = serving.serve(stream).await;
                });
            }
        });
        Ok(api)
    }

    /// What `stripe.api_base` is to be.
    #[must_use]
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets what is true of an object from now on, by its `id`.
    ///
    /// # Errors
    /// When it has none.
    pub fn put(&self, object: Value) -> Result<()> {
        let id = object["id"].as_str().context("an object has an id")?;
        let id = id.to_owned();
        self.state().objects.insert(id, object);
        Ok(())
    }

    /// Changes its manner, also for questions that it holds.
    pub fn behave(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// Every question so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, stream: TcpStream) -> Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(request) = http::read(&mut stream).await? {
            let asked = match request {
                http::Request::Ask(asked) => asked,
                http::Request::Put(object) => {
                    let known = self.put(object).is_ok();
                    let status = if known { 200 } else { 400 };
                    http::write(&mut stream, &error(status, "put")).await?;
                    continue;
                }
            };
            let truth = self.truth(&asked);
            self.state().asked.push(asked);
            let mut manner = self.manner.subscribe();
            let answers = |manner: &Manner| *manner != Manner::Hold;
            let manner = manner.wait_for(answers).await?.clone();
            http::write(&mut stream, &answer(&manner, truth)).await?;
        }
        Ok(())
    }

    /// The answer that is right at this moment.
    fn truth(&self, asked: &Asked) -> http::Answer {
        if asked.header("authorization") != Some(&format!("Bearer {KEY}")) {
            return error(401, "invalid_request_error");
        }
        let id = asked.path.strip_prefix("/v1/subscriptions/");
        let object = id.and_then(|id| self.state().objects.get(id).cloned());
        object.map_or_else(
            || error(404, "resource_missing"),
            |object| http::Answer::json(200, &object),
        )
    }
}

fn answer(manner: &Manner, truth: http::Answer) -> http::Answer {
    match manner {
        Manner::Truth | Manner::Hold => truth,
        Manner::Status(status) => error(*status, "api_error"),
        Manner::Limit(seconds) => http::Answer {
            retry_after: Some(*seconds),
            ..error(429, "rate_limit")
        },
        Manner::Garbage => http::Answer {
            body: "<html>\u{fffd}".to_owned(),
            ..error(200, "")
        },
        Manner::Big => http::Answer::json(200, &json!({ "id": " ".repeat(4 * 1024 * 1024) })),
    }
}

/// An error as Stripe writes it.
fn error(status: u16, code: &str) -> http::Answer {
    let error = json!({ "error": { "code": code, "type": "invalid_request_error" } });
    http::Answer::json(status, &error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stripe::delivery::plain_client;

    #[tokio::test]
    async fn what_is_put_from_outside_is_true_for_who_has_the_key() {
        let api = Api::start().await.unwrap();
        let address = format!("{}/v1/subscriptions/sub_1", api.base());
        let client = plain_client().unwrap();
        let object = r#"{"id":"sub_1","object":"subscription","status":"active"}"#;
        for (body, status) in [(object, 200), (r#"{"status":"active"}"#, 400)] {
            let put = client.put(&address).body(body).send().await.unwrap();
            assert_eq!(put.status(), status, "{body}");
        }
        let stranger = client.get(&address).send().await.unwrap();
        assert_eq!(stranger.status(), 401);
        let asked = client.get(&address).bearer_auth(KEY).send().await.unwrap();
        let answer: Value = serde_json::from_str(&asked.text().await.unwrap()).unwrap();
        assert_eq!(answer["status"], json!("active"));
        assert_eq!(api.asked().len(), 2);
    }
}
