//! What every test here starts from.

use std::path::PathBuf;
use std::process::Stdio;

use bson::oid::ObjectId;
use hookledger_dev::folder::Folder;
use hookledger_dev::mongo::shared;
use hookledger_shared::config::Mongodb;
use hookledger_shared::store::{ConnectOptions, Stores};
use serde_json::Value;
use tokio::process::Command;

/// What must never be printed: the secrets that the configuration refers to, and those that
/// stand in addresses.
pub(crate) const SECRETS: [&str; 5] = [
    APP_SECRET,
    OPS_TOKEN,
    "secret-of-the-url",
    "hunter2",
    "written-into-the-file",
];
const APP_SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
pub(crate) const OPS_TOKEN: &str = "token-of-the-operators";
/// Who the operator is.
pub(crate) const USER: &str = "ada";

/// A database of one's own, and a configuration that leads to it.
pub(crate) struct Bed {
    pub(crate) stores: Stores,
    folder: Folder,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Its output as JSON; it must have succeeded.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// That it ended with `code` and said each of `words` somewhere.
    pub(crate) fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            let said = self.out.contains(word) || self.err.contains(word);
            assert!(said, "no {word} in {self:?}");
        }
    }
}

impl Bed {
    /// With every collection and index.
    pub(crate) async fn new() -> Self {
        let bed = Self::bare().await;
        bed.stores.preflight(&Stores::wanted()).await.unwrap();
        bed
    }

    /// With nothing in the database.
    pub(crate) async fn bare() -> Self {
        Self::at(&shared::uri().await.unwrap()).await
    }

    /// The same on another server, whether it is there or not.
    pub(crate) async fn at(uri: &str) -> Self {
        let mongodb = Mongodb {
            uri: uri.to_owned(),
            database: format!("operate_{}", ObjectId::new()),
        };
        let options = ConnectOptions::named("operate-test");
        let stores = Stores::connect(&mongodb, &options).await.unwrap();
        let bed = Self {
            stores,
            folder: Folder::temporary("operate").unwrap(),
        };
        bed.configure(&settings(uri, &mongodb.database));
        bed
    }

    /// Puts another text into the configuration file.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.config(), text).unwrap();
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("hookledger.toml")
    }

    /// The variables that the configuration refers to.
    pub(crate) fn environment() -> Vec<(String, String)> {
        let pairs = [("APP", APP_SECRET), ("OPS", OPS_TOKEN), ("USER", USER)];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        pairs.into_iter().map(own).collect()
    }

    /// Runs a command with the configuration. Whatever it is and however it ends, it prints
    /// no secret.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        let config = self.config();
        let config = ["--config", config.to_str().unwrap()];
        run(&[&config, arguments].concat()).await
    }
}

/// Runs a command as it is typed.
pub(crate) async fn run(arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_hookledger-worker"))
        .args(arguments)
        .env_clear()
        .envs(Bed::environment())
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let ran = Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    for secret in SECRETS {
        let shown = ran.out.contains(secret) || ran.err.contains(secret);
        assert!(!shown, "{arguments:?} shows {secret}: {ran:?}");
    }
    ran
}

/// One sink that needs a secret and has another in its address, and one that needs none.
pub(crate) fn settings(uri: &str, database: &str) -> String {
    format!(
        r#"[mongodb]
uri = {uri:?}
database = {database:?}

[worker]
ops_bind = "127.0.0.1:0"
ops_token = "env:OPS"

[[sink]]
name = "app"
kind = "http"
url = "https://app.example.com/hooks?key=secret-of-the-url"
secrets = ["env:APP"]

[[sink]]
name = "crm"
kind = "log"

[[route]]
topic = "*"
sinks = ["app"]
"#
    )
}
