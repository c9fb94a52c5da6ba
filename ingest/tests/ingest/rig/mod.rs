//! Ingest under test: in this process with a clock that stands still ([`Rig`]), or as the
//! real program ([`program`]). Each has a database of its own.

pub(crate) mod program;
pub(crate) mod raw;

use std::collections::BTreeMap;
use std::time::Duration;

use bson::{Document, doc};
use futures::TryStreamExt;
use hookledger_dev::mongo::{direct, shared, wait};
use hookledger_dev::stripe::sign;
use hookledger_ingest::app::{self, Running};
use hookledger_ingest::clock::Clock;
use hookledger_shared::config::{IngestSettings, Mongodb, Provider, Secret, Source};
use mongodb::Collection;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The time at which everything here is signed and verified.
pub(crate) const NOW: i64 = 1_767_225_600;
/// The secret of [`source`].
pub(crate) const SECRET: &str = "whsec_cTPV16qt3SxVNu7grWNwRUMSKdQb6uGu";
/// Long enough for a loaded machine, short enough to fail a test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A test-mode Stripe source of this name, in a scope of the same name.
pub(crate) fn source(name: &str) -> Source {
    Source {
        name: name.to_owned(),
        provider: Provider::Stripe,
        secrets: vec![Secret::new(SECRET)],
        tolerance: Duration::from_secs(300),
        livemode: false,
        scope: name.to_owned(),
        commit_timeout: Duration::from_secs(10),
        max_body_bytes: 1_024 * 1_024,
        public_url: None,
    }
}

/// A snapshot event of this id.
pub(crate) fn event(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","object":"event","created":1767225598,"livemode":false,"type":"widget.polished","data":{{"object":{{"id":"wid_1","object":"widget"}}}}}}"#
    )
}

/// A database that no other test and no earlier run has.
pub(crate) fn new_database() -> String {
    format!("ingest_{:016x}", fastrand::u64(..))
}

/// The same deployment, but ours alone by its application name.
pub(crate) fn named(uri: &str, app_name: &str) -> String {
    format!("{uri}&appName={app_name}")
}

/// A running ingest.
pub(crate) struct Rig {
    pub(crate) running: Running,
    pub(crate) database: String,
    pub(crate) uri: String,
    client: reqwest::Client,
}

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Rig {
    /// On the shared server, with one source `stripe`.
    pub(crate) async fn start() -> Self {
        Self::with(vec![source("stripe")]).await
    }

    /// On the shared server. The database's name is the application's too, for fail points.
    pub(crate) async fn with(sources: Vec<Source>) -> Self {
        let uri = shared::uri().await.unwrap();
        Self::on(&uri, new_database(), sources).await
    }

    /// Somewhere else; returns once deliveries can be stored.
    pub(crate) async fn on(uri: &str, database: String, sources: Vec<Source>) -> Self {
        let settings = IngestSettings {
            mongodb: Mongodb {
                uri: named(uri, &database),
                database: database.clone(),
            },
            bind: ([127, 0, 0, 1], 0).into(),
            ops_bind: ([127, 0, 0, 1], 0).into(),
            max_body_bytes: 1_024 * 1_024,
            commit_timeout: Duration::from_secs(10),
            sources,
        };
        let rig = Self {
            running: app::start(settings, Clock::Fixed(NOW)).await.unwrap(),
            database,
            uri: uri.to_owned(),
            client: client(),
        };
        rig.wait_until_ready().await;
        rig
    }

    pub(crate) async fn wait_until_ready(&self) {
        wait::until("ingest to be ready", PATIENCE, async || {
            Ok((self.get("/readyz").await.status == 200).then_some(()))
        })
        .await
        .unwrap();
    }

    /// Asks the ops port.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        let url = format!("http://{}{path}", self.running.ops_addr);
        Reply::of(self.client.get(url)).await
    }

    /// Posts what it is given, unsigned.
    pub(crate) async fn post(&self, source: &str, headers: HeaderMap, body: Vec<u8>) -> Reply {
        let url = format!("http://{}/webhooks/{source}", self.running.webhook_addr);
        Reply::of(self.client.post(url).headers(headers).body(body)).await
    }

    /// Signs and posts, as Stripe does.
    pub(crate) async fn deliver_to(&self, source: &str, body: impl Into<Vec<u8>>) -> Reply {
        let body = body.into();
        let signature = sign::header(&body, SECRET, NOW);
        let headers = headers(&[("stripe-signature", signature.as_bytes())]);
        self.post(source, headers, body).await
    }

    /// Signs and posts to the source `stripe`.
    pub(crate) async fn deliver(&self, body: impl Into<Vec<u8>>) -> Reply {
        self.deliver_to("stripe", body).await
    }

    /// The ledger.
    pub(crate) async fn events(&self) -> Collection<Document> {
        events(&self.uri, &self.database).await
    }

    /// All rows of a scope.
    pub(crate) async fn rows(&self, scope: &str) -> Vec<Document> {
        let events = self.events().await;
        let found = events.find(doc! { "scope": scope }).await.unwrap();
        found.try_collect().await.unwrap()
    }
}

impl Reply {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        Self {
            status: response.status().as_u16(),
            headers: response.headers().iter().map(text).collect(),
            body: response.text().await.unwrap(),
        }
    }

    /// Newly stored.
    pub(crate) fn is_stored(&self) -> bool {
        self.status == 200 && self.body == r#"{"received":true}"#
    }

    /// Already there.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.status == 200 && self.body == r#"{"received":true,"duplicate":true}"#
    }

    /// The provider shall deliver again.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.status == 503
            && self.body == r#"{"error":"unavailable"}"#
            && self.headers.contains_key("retry-after")
    }

    /// Refused with this status and code.
    pub(crate) fn is_error(&self, status: u16, code: &str) -> bool {
        self.status == status && self.body == format!(r#"{{"error":"{code}"}}"#)
    }
}

/// The ledger of this deployment and database.
pub(crate) async fn events(uri: &str, database: &str) -> Collection<Document> {
    let client = direct::client(uri).await.unwrap();
    client.database(database).collection("events")
}

/// A header a pair, in this order, duplicates kept.
pub(crate) fn headers(pairs: &[(&str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

/// A client that follows nothing and waits long.
pub(crate) fn client() -> reqwest::Client {
    // The client insists on a TLS library even for plain HTTP; an error says that one is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE);
    client.build().unwrap()
}
