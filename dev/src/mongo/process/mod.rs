//! One `mongod` process: start, signals, restart.
//!
//! - `guard`: the small shell that ties the server's life to ours.
//! - `arguments`: the command line.
//!
//! Nothing here is bound to an async runtime: a [`Mongod`] may be started in one and used in another.

mod arguments;
mod guard;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bson::Document;

pub use self::arguments::MongodOptions;
use self::guard::{Guard, Signal};
use super::{binary, direct};

/// How many ports are tried when others take them between our choice and the server's `bind`.
const PORT_TRIES: usize = 5;

/// How long a server may take until it answers. Generous: a busy machine with a slow disk needs seconds.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server may take to end after SIGTERM before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// A running server, or one that has been stopped and may be started again on the same port and data.
///
/// Dropping it kills the server and removes its data.
#[derive(Debug)]
pub struct Mongod {
    options: MongodOptions,
    binary: PathBuf,
    data: PathBuf,
    port: u16,
    guard: Guard,
}

impl Mongod {
    /// Starts a server on a free loopback port with a new data directory and waits until it answers.
    ///
    /// # Errors
    /// When there is no `mongod`, or it ends before it answers; the message has its last words.
    pub async fn start(options: MongodOptions) -> Result<Self> {
        let binary = binary::find().await?;
        let data = new_data_dir()?;
        for _ in 0..PORT_TRIES {
            let port = free_port()?;
            let guard = Guard::launch(&binary, &data, &options.arguments(&data, port))?;
            match ready(&guard, port).await {
                Ok(()) => {
                    return Ok(Self {
                        options,
                        binary,
                        data,
                        port,
                        guard,
                    });
                }
                Err(_) if log(&data).contains("Address already in use") => guard.release(),
                Err(error) => return Err(error.context(last_words(&guard, &data))),
            }
        }
        // The last guard has been released, so the folder is ours to remove.
        let _ = std::fs::remove_dir_all(&data);
        bail!("{PORT_TRIES} free ports in a row were taken by others before mongod could have them")
    }

    /// The server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.guard.pid()
    }

    /// The loopback port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The temporary folder with its data and its log.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// Where to reach this server and no other, whatever its role in a replica set.
    #[must_use]
    pub fn uri(&self) -> String {
        direct::uri(self.port)
    }

    /// Whether the process exists (a paused one does).
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.guard.last_output().is_none()
    }

    /// Runs a command on this server's `admin` database.
    ///
    /// # Errors
    /// When the server can't be reached, refuses, or does not answer in time.
    pub async fn command(&self, command: Document) -> Result<Document> {
        direct::command(&self.uri(), command).await
    }

    /// Kills the server (SIGKILL) and waits until it is gone. Its data stays for [`restart`](Self::restart).
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub async fn kill(&mut self) -> Result<()> {
        if self.is_running() {
            self.guard.send(Signal::Kill)?;
            self.guard.ended().await;
        }
        Ok(())
    }

    /// Stops the server cleanly (SIGTERM) and waits until it is gone; kills it when that takes too long.
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub async fn stop(&mut self) -> Result<()> {
        if self.is_running() {
            self.guard.send(Signal::Terminate)?;
            if tokio::time::timeout(STOP_TIMEOUT, self.guard.ended())
                .await
                .is_err()
            {
                return self.kill().await;
            }
        }
        Ok(())
    }

    /// Freezes the server (SIGSTOP): it keeps its connections and answers nothing.
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub fn pause(&mut self) -> Result<()> {
        self.guard.send(Signal::Pause)
    }

    /// Lets a frozen server go on (SIGCONT).
    ///
    /// # Errors
    /// When the signal can't be sent.
    pub fn resume(&mut self) -> Result<()> {
        self.guard.send(Signal::Resume)
    }

    /// Starts a stopped or killed server again on the same port and data, and waits until it answers.
    ///
    /// # Errors
    /// When it still runs, or does not come up again.
    pub async fn restart(&mut self) -> Result<()> {
        if self.is_running() {
            bail!("mongod {} still runs", self.pid());
        }
        let guard = Guard::launch(
            &self.binary,
            &self.data,
            &self.options.arguments(&self.data, self.port),
        )?;
        // The new guard has the data from here on; the old one must not remove it.
        std::mem::replace(&mut self.guard, guard).release();
        ready(&self.guard, self.port)
            .await
            .map_err(|error| error.context(last_words(&self.guard, &self.data)))
    }
}

/// Waits until the server answers. That it is ours and not another one on the same port is told by its
/// process id.
async fn ready(guard: &Guard, port: u16) -> Result<()> {
    let answers = async {
        while direct::server_pid(port).await.ok() != Some(i64::from(guard.pid())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = answers => Ok(()),
        () = guard.ended() => bail!("mongod ended before it answered"),
        () = tokio::time::sleep(START_TIMEOUT) => bail!("mongod did not answer within {START_TIMEOUT:?}"),
    }
}

/// A folder that nobody else has. The guard removes it.
fn new_data_dir() -> Result<PathBuf> {
    let name = format!(
        "hookledger-mongod-{}-{:016x}",
        std::process::id(),
        fastrand::u64(..)
    );
    let data = std::env::temp_dir().join(name);
    std::fs::create_dir(&data).with_context(|| format!("cannot make {}", data.display()))?;
    Ok(data)
}

fn free_port() -> Result<u16> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener
        .local_addr()
        .context("no free port on 127.0.0.1")?
        .port())
}

fn log(data: &Path) -> String {
    std::fs::read(arguments::log_file(data))
        .map(|log| String::from_utf8_lossy(&log).into_owned())
        .unwrap_or_default()
}

/// The end of what the server printed and logged, for an error message.
fn last_words(guard: &Guard, data: &Path) -> String {
    const LINES: usize = 8;
    let said = guard.last_output().unwrap_or_default() + &log(data);
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    format!("mongod said last:\n{}", last.join("\n"))
}
