//! The driver's client, tuned as measured: the pool's default of 10 costs a factor of two
//! on three members, and with the default heartbeat a frozen primary stalls writers for 17
//! seconds where these settings take two.

use std::time::Duration;

use mongodb::Client;
use mongodb::options::{Acknowledgment, ClientOptions, WriteConcern};

use super::Stores;
use super::error::StoreError;
use super::primary::PrimaryWatch;
use crate::config::Mongodb;

/// What a process wants of its connection.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// How the server's logs and fail points name this process.
    pub app_name: String,
    /// How long an operation outside a transaction may take.
    pub op_timeout: Duration,
    /// The most connections to one server.
    pub max_pool_size: u32,
}

impl ConnectOptions {
    /// For a process of this name, with the measured defaults.
    #[must_use]
    pub fn named(app_name: impl Into<String>) -> Self {
        Self {
            app_name: app_name.into(),
            op_timeout: OP_TIMEOUT,
            max_pool_size: MAX_POOL_SIZE,
        }
    }
}

/// An operation that takes longer has failed: its outcome is unknown.
const OP_TIMEOUT: Duration = Duration::from_secs(10);
/// 32 to 64 are equal on one and on three members; 10 is half as fast.
const MAX_POOL_SIZE: u32 = 64;
/// How soon a frozen primary is noticed.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// See [`HEARTBEAT`]: the streaming monitor waits this long on top.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long an operation waits for a primary.
const SERVER_SELECTION: Duration = Duration::from_secs(5);
/// The server stops waiting for a majority this much before we stop waiting for it.
const WTIMEOUT_MARGIN: Duration = Duration::from_secs(1);

/// Why the configured connection can't be used at all.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The driver can't make sense of it.
    #[error("mongodb.uri: {0}")]
    Uri(#[from] mongodb::error::Error),
    /// What we acknowledge must be on a majority, in the journal.
    #[error(
        "mongodb.uri: the write concern must be majority and journaled, not {0}; leave `w`, `journal` and `wtimeoutMS` out of it"
    )]
    WeakWriteConcern(String),
    /// Retryable writes carry claims over an election.
    #[error("mongodb.uri: retryWrites=false can't be used; leave it out")]
    NoRetryableWrites,
}

impl Stores {
    /// Makes the client. It connects by itself, now and after every outage: no answer is
    /// awaited here.
    pub async fn connect(
        mongodb: &Mongodb,
        options: &ConnectOptions,
    ) -> Result<Self, ConnectError> {
        let mut client = ClientOptions::parse(&mongodb.uri).await?;
        refuse_weak(&client)?;
        client
            .app_name
            .get_or_insert_with(|| options.app_name.clone());
        client.max_pool_size.get_or_insert(options.max_pool_size);
        client.heartbeat_freq.get_or_insert(HEARTBEAT);
        client.connect_timeout.get_or_insert(CONNECT_TIMEOUT);
        client
            .server_selection_timeout
            .get_or_insert(SERVER_SELECTION);
        client.write_concern = Some(majority(wtimeout(options.op_timeout)));
        let configured = client.clone();
        let (primary, handler) = PrimaryWatch::new();
        client.sdam_event_handler = Some(handler);
        let client = Client::with_options(client)?;
        Ok(Self::new(
            client,
            configured,
            primary,
            &mongodb.database,
            options.op_timeout,
        ))
    }

    /// Whether one of the configured servers is a standalone one. The driver silently drops
    /// such a server when the URI names a replica set, so it is asked directly.
    pub(super) async fn is_standalone(&self) -> bool {
        for host in &self.configured.hosts {
            let mut direct = self.configured.clone();
            direct.hosts = vec![host.clone()];
            direct.repl_set_name = None;
            direct.direct_connection = Some(true);
            direct.server_selection_timeout = Some(CONNECT_TIMEOUT);
            let Ok(client) = Client::with_options(direct) else {
                continue;
            };
            let hello = client
                .database("admin")
                .run_command(bson::doc! { "hello": 1 })
                .await;
            if hello.is_ok_and(|hello| {
                !hello.contains_key("setName") && !hello.contains_key("isreplicaset")
            }) {
                return true;
            }
        }
        false
    }

    /// The server's clock, in milliseconds since 1970.
    pub async fn server_time(&self) -> Result<bson::DateTime, StoreError> {
        let hello = bson::doc! { "hello": 1 };
        let admin = self.client.database("admin");
        let hello = super::error::within(self.op_timeout, async { admin.run_command(hello).await });
        let hello = hello.await?;
        let time = hello
            .get_datetime("localTime")
            .map_err(|_| StoreError::Unexpected("hello carried no localTime".to_owned()))?;
        Ok(*time)
    }
}

/// Majority and journaled; the server gives up waiting after `wtimeout`.
pub(crate) fn majority(wtimeout: Duration) -> WriteConcern {
    WriteConcern::builder()
        .w(Acknowledgment::Majority)
        .journal(true)
        .w_timeout(wtimeout)
        .build()
}

/// How long the server may wait for a majority when we wait `limit` for the server.
#[must_use]
pub fn wtimeout(limit: Duration) -> Duration {
    limit
        .saturating_sub(WTIMEOUT_MARGIN)
        .max(WTIMEOUT_MARGIN / 2)
}

fn refuse_weak(options: &ClientOptions) -> Result<(), ConnectError> {
    if options.retry_writes == Some(false) {
        return Err(ConnectError::NoRetryableWrites);
    }
    let Some(concern) = &options.write_concern else {
        return Ok(());
    };
    let strong = matches!(concern.w, None | Some(Acknowledgment::Majority));
    if strong && concern.journal != Some(false) {
        return Ok(());
    }
    let w = concern.w.as_ref().map_or_else(
        || "journal=false".to_owned(),
        |w| match w {
            Acknowledgment::Nodes(nodes) => format!("w={nodes}"),
            Acknowledgment::Majority => "journal=false".to_owned(),
            Acknowledgment::Custom(name) => format!("w={name}"),
            other => format!("w={other:?}"),
        },
    );
    Err(ConnectError::WeakWriteConcern(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn connected(uri: &str) -> Result<Stores, ConnectError> {
        let mongodb = Mongodb {
            uri: uri.to_owned(),
            database: "hookledger".to_owned(),
        };
        Stores::connect(&mongodb, &ConnectOptions::named("test")).await
    }

    #[tokio::test]
    async fn a_weak_write_concern_is_refused_before_anything_connects() {
        for weak in [
            "w=1",
            "w=0",
            "w=2",
            "journal=false",
            "w=majority&journal=false",
            "w=mytag",
        ] {
            let uri = format!("mongodb://127.0.0.1:1/?{weak}");
            let refused = connected(&uri).await;
            assert!(
                matches!(refused, Err(ConnectError::WeakWriteConcern(_))),
                "{weak}: {refused:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_strong_one_and_none_are_taken() {
        for strong in ["", "w=majority", "w=majority&journal=true", "journal=true"] {
            let uri = format!("mongodb://127.0.0.1:1/?{strong}");
            assert!(connected(&uri).await.is_ok(), "{strong}");
        }
    }
}
