//! Commands to one server, whatever its role: a direct connection for each, with short time-outs.
//!
//! A client for each call is slow and never in the way: nothing is shared between tests' runtimes, and no
//! monitor remembers a server that has been killed since.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result};
use bson::{Bson, Document, doc};
use mongodb::Client;
use mongodb::options::ClientOptions;
use tokio::net::TcpStream;

/// For finding and connecting to a server on this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// For a whole command. Initiating a replica set and stepping down are the slowest.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

/// For a question that a server which is well answers at once. A paused one never answers.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// What we call ourselves, so that fail points aimed at a test's client spare us.
const APP_NAME: &str = "hookledger-dev";

/// A connection to the one server on this loopback port.
#[must_use]
pub fn uri(port: u16) -> String {
    format!("mongodb://127.0.0.1:{port}/?directConnection=true")
}

/// A client of this runtime with short time-outs.
///
/// # Errors
/// When the URI is wrong.
pub async fn client(uri: &str) -> Result<Client> {
    let mut options = ClientOptions::parse(uri)
        .await
        .context("a wrong MongoDB URI")?;
    options.app_name = Some(APP_NAME.to_owned());
    options.server_selection_timeout = Some(CONNECT_TIMEOUT);
    options.connect_timeout = Some(CONNECT_TIMEOUT);
    Client::with_options(options).context("cannot make a MongoDB client")
}

/// Runs a command on the `admin` database.
///
/// # Errors
/// When the server can't be reached, refuses, or does not answer within 20 s.
pub async fn command(uri: &str, command: Document) -> Result<Document> {
    command_within(COMMAND_TIMEOUT, uri, command).await
}

pub(super) async fn command_within(
    limit: Duration,
    uri: &str,
    command: Document,
) -> Result<Document> {
    let name = command.keys().next().cloned().unwrap_or_default();
    let run = async {
        Ok(client(uri)
            .await?
            .database("admin")
            .run_command(command)
            .await?)
    };
    let answer: Result<Document> = tokio::time::timeout(limit, run)
        .await
        .map_err(anyhow::Error::from)
        .flatten();
    answer.with_context(|| format!("{name} on {uri}"))
}

/// The process id of the server on this port.
pub(super) async fn server_pid(port: u16) -> Result<i64> {
    // The driver would wait half a second after a refused connection before it tries again.
    TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .context("nothing listens")?;
    let question = doc! { "serverStatus": 1, "repl": 0, "metrics": 0, "wiredTiger": 0, "tcmalloc": 0, "locks": 0 };
    let status = command_within(PROBE_TIMEOUT, &uri(port), question).await?;
    status
        .get("pid")
        .and_then(integer)
        .context("the server does not tell its process id")
}

/// A number, in whichever of its types the server chose to send it.
pub(super) fn integer(value: &Bson) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_i32().map(i64::from))
        .or_else(|| value.as_f64().map(|float| float as i64))
}
