//! Makes a server fail in a chosen way, by MongoDB's own fail points (they need `enableTestCommands`).
//!
//! On a shared server aim it at one client by [`FailPoint::app_name`], or it hits every test.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bson::{Bson, Document, doc};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::direct;

/// How long to wait for another test to disarm the same fail point.
const TURN_TIMEOUT: Duration = Duration::from_secs(120);

/// Arming and disarming wait for every command that the fail point holds at that moment.
const CONFIGURE_TIMEOUT: Duration = Duration::from_secs(90);

/// A failure to be armed.
#[derive(Clone, Debug)]
#[must_use = "a fail point does nothing until it is armed"]
pub struct FailPoint {
    name: String,
    mode: Bson,
    data: Document,
}

impl FailPoint {
    /// Fails the named commands (`failCommand`). Without more it does nothing to them but count.
    pub fn on_commands<'a>(commands: impl IntoIterator<Item = &'a str>) -> Self {
        let commands: Vec<&str> = commands.into_iter().collect();
        let mut point = Self::named("failCommand");
        point.data.insert("failCommands", commands);
        point
    }

    /// Any other fail point of the server, as `stopReplProducer`.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            mode: "alwaysOn".into(),
            data: Document::new(),
        }
    }

    /// Only commands of clients with this `appName`.
    pub fn app_name(self, name: &str) -> Self {
        self.with("appName", name)
    }

    /// Only commands on this `database.collection`.
    pub fn namespace(self, namespace: &str) -> Self {
        self.with("namespace", namespace)
    }

    /// Holds the command for so long before it is executed (or failed).
    pub fn block(self, duration: Duration) -> Self {
        let millis = i32::try_from(duration.as_millis()).unwrap_or(i32::MAX);
        self.with("blockConnection", true)
            .with("blockTimeMS", millis)
    }

    /// The command fails with this code and is not executed. The server adds the labels that belong to it.
    pub fn error_code(self, code: i32) -> Self {
        self.with("errorCode", code)
    }

    /// Replaces the labels that the server would add. None at all: the driver does not retry.
    pub fn error_labels<'a>(self, labels: impl IntoIterator<Item = &'a str>) -> Self {
        let labels: Vec<&str> = labels.into_iter().collect();
        self.with("errorLabels", labels)
    }

    /// The connection is closed and the command is not executed.
    pub fn close_connection(self) -> Self {
        self.with("closeConnection", true)
    }

    /// The command **is** executed and its answer carries this write-concern error.
    pub fn write_concern_error(self, code: i32, message: &str) -> Self {
        self.with(
            "writeConcernError",
            doc! { "code": code, "errmsg": message },
        )
    }

    /// As [`write_concern_error`](Self::write_concern_error), for a time-out: the write is there, a majority is
    /// not known to have it.
    pub fn write_concern_timeout(self) -> Self {
        let error = doc! { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting for replication timed out",
        "errInfo": { "wtimeout": true } };
        self.with("writeConcernError", error)
    }

    /// Any other field of the fail point's `data`.
    pub fn with(mut self, field: &str, value: impl Into<Bson>) -> Self {
        self.data.insert(field, value.into());
        self
    }

    /// Only the next `count` times. Without it: until it is disarmed.
    pub fn times(mut self, count: i32) -> Self {
        self.mode = doc! { "times": count }.into();
        self
    }

    /// Not the next `count` times, and always after them.
    pub fn skip(mut self, count: i32) -> Self {
        self.mode = doc! { "skip": count }.into();
        self
    }

    /// Arms it on the server that the URI leads to: the primary of a set, or one member by its direct URI.
    ///
    /// A server has each fail point once, so this waits until nobody else in this process holds it.
    ///
    /// # Errors
    /// When the server refuses (`enableTestCommands` is missing), or another test holds it too long.
    pub async fn arm(self, uri: &str) -> Result<ArmedFailPoint> {
        let turn = tokio::time::timeout(TURN_TIMEOUT, turns(uri, &self.name).lock_owned());
        let turn = turn
            .await
            .with_context(|| format!("{} is armed by another test", self.name))?;
        let command =
            doc! { "configureFailPoint": &self.name, "mode": self.mode, "data": self.data };
        let reply = direct::command_within(CONFIGURE_TIMEOUT, uri, command).await?;
        let entered = reply.get("count").and_then(direct::integer).unwrap_or(0);
        Ok(ArmedFailPoint {
            name: self.name,
            uri: uri.to_owned(),
            entered,
            on: true,
            _turn: turn,
        })
    }
}

/// An armed failure. [`off`](Self::off) disarms it; dropping it does so too, at the price of a blocked thread.
#[derive(Debug)]
pub struct ArmedFailPoint {
    name: String,
    uri: String,
    /// How often it had been entered when it was armed: the server counts on over its whole life.
    entered: i64,
    on: bool,
    _turn: OwnedMutexGuard<()>,
}

impl ArmedFailPoint {
    /// Waits until it has been entered `count` times since it was armed. A command that blocks counts as soon as
    /// it begins to.
    ///
    /// # Errors
    /// When that does not happen within the limit.
    pub async fn wait_entered(&self, count: i64, within: Duration) -> Result<()> {
        let limit = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
        let command = doc! { "waitForFailPoint": &self.name, "timesEntered": self.entered + count, "maxTimeMS": limit };
        let grace = Duration::from_secs(2);
        direct::command_within(within + grace, &self.uri, command).await?;
        Ok(())
    }

    /// Disarms it.
    ///
    /// # Errors
    /// When the server can't be reached.
    pub async fn off(mut self) -> Result<()> {
        self.on = false;
        disarm(&self.uri, &self.name).await
    }
}

impl Drop for ArmedFailPoint {
    /// A test that panicked must not leave the failure to the others.
    fn drop(&mut self) {
        if !self.on {
            return;
        }
        let (uri, name) = (self.uri.clone(), self.name.clone());
        let disarming = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(disarm(&uri, &name))
        });
        // A server that can't be reached (killed by the test) has no fail point either.
        let _: Result<Result<()>, _> = disarming.join();
    }
}

async fn disarm(uri: &str, name: &str) -> Result<()> {
    let off = doc! { "configureFailPoint": name, "mode": "off" };
    direct::command_within(CONFIGURE_TIMEOUT, uri, off).await?;
    Ok(())
}

/// A lock for each fail point of each server.
type Turns = HashMap<(String, String), Arc<AsyncMutex<()>>>;

/// Who may arm this fail point of this server now. A static, because the tests of a binary have no common owner.
fn turns(uri: &str, name: &str) -> Arc<AsyncMutex<()>> {
    static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);
    let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    let turn = turns.entry((uri.to_owned(), name.to_owned())).or_default();
    Arc::clone(turn)
}
