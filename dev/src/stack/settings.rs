//! A configuration for a stack on this machine, with secrets made up for development.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::stripe::api;

/// The endpoint secret that development signs with. Worth nothing anywhere else.
pub const STRIPE_SECRET: &str = "whsec_development_only_not_a_secret";
/// The secret that development's receivers verify with. Worth nothing anywhere else.
pub const APP_SECRET: &str = "whsec_ZGV2ZWxvcG1lbnQtb25seS1ub3QtYS1zZWNyZXQ=";

/// What a stack is told; the rest is the product's default.
#[derive(Debug, Clone)]
pub struct StackSettings {
    /// Where the database is.
    pub mongodb_uri: String,
    /// Its name.
    pub database: String,
    /// Where ingest listens for deliveries; port 0 takes any.
    pub bind: String,
    /// Where ingest listens for operators.
    pub ingest_ops: String,
    /// Where the worker listens for operators.
    pub worker_ops: String,
    /// How many events a worker handles at a time.
    pub concurrency: usize,
    /// How long a claim holds.
    pub lease: Duration,
    /// How often an event is tried.
    pub max_attempts: u32,
    /// How long a state message settles.
    pub settle: Duration,
    /// How long ingest waits for a commit.
    pub commit_timeout: Duration,
    /// Where Stripe's API is; without it nobody is asked.
    pub stripe_api: Option<String>,
    /// Where an HTTP sink sends; without one everything goes to the log.
    pub app_url: Option<String>,
}

impl StackSettings {
    /// On ports of the system's choice, with the product's defaults.
    #[must_use]
    pub fn on_free_ports(mongodb_uri: &str, database: &str) -> Self {
        let any = || "127.0.0.1:0".to_owned();
        Self {
            mongodb_uri: mongodb_uri.to_owned(),
            database: database.to_owned(),
            bind: any(),
            ingest_ops: any(),
            worker_ops: any(),
            concurrency: 8,
            lease: Duration::from_secs(30),
            max_attempts: 5,
            settle: Duration::from_secs(2),
            commit_timeout: Duration::from_secs(10),
            stripe_api: None,
            app_url: None,
        }
    }

    /// Writes the configuration file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        std::fs::write(path, self.text())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// The variables that its secrets refer to.
    #[must_use]
    pub fn secrets() -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            pair("STRIPE_WEBHOOK_SECRET", STRIPE_SECRET),
            pair("APP_WEBHOOK_SECRET", APP_SECRET),
            pair("STRIPE_API_KEY", api::KEY),
        ]
    }

    fn text(&self) -> String {
        let sink = match &self.app_url {
            Some(url) => {
                format!("kind = \"http\"\nurl = {url:?}\nsecrets = [\"env:APP_WEBHOOK_SECRET\"]")
            }
            None => "kind = \"log\"".to_owned(),
        };
        let stripe = match &self.stripe_api {
            Some(base) => {
                format!("[stripe]\napi_key = \"env:STRIPE_API_KEY\"\napi_base = {base:?}\n")
            }
            None => String::new(),
        };
        let mut text = String::new();
        // Writing into a string can't fail.
        let _ = write!(
            text,
            r#"[mongodb]
uri = {uri:?}
database = {database:?}

[ingest]
bind = {bind:?}
ops_bind = {ingest_ops:?}
commit_timeout_ms = {commit_timeout}

[[source]]
name = "stripe"
provider = "stripe"
secrets = ["env:STRIPE_WEBHOOK_SECRET"]
livemode = false

[worker]
ops_bind = {worker_ops:?}
concurrency = {concurrency}
lease_ms = {lease}
max_attempts = {max_attempts}
settle_ms = {settle}

{stripe}
[catalogue.pack_100]
credits = 100
amount = 1900
currency = "usd"

[[sink]]
name = "app"
{sink}

[[route]]
topic = "*"
sinks = ["app"]
"#,
            uri = self.mongodb_uri,
            database = self.database,
            bind = self.bind,
            ingest_ops = self.ingest_ops,
            worker_ops = self.worker_ops,
            commit_timeout = self.commit_timeout.as_millis(),
            concurrency = self.concurrency,
            lease = self.lease.as_millis(),
            max_attempts = self.max_attempts,
            settle = self.settle.as_millis(),
        );
        text
    }
}
