//! One of the product's programs, run as a child that never outlives us.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hookledger_shared::task;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const SHELL: &str = include_str!("program.sh");
/// How long a program may take until it listens: it waits for nothing but its port.
const START_LIMIT: Duration = Duration::from_secs(20);

/// What to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// How we call it.
    pub name: &'static str,
    /// The program.
    pub binary: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables beside those of our own environment.
    pub environment: Vec<(String, String)>,
    /// Whether its log goes to our standard error as well.
    pub show_log: bool,
}

/// What can be sent to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `kill -9`.
    Kill,
    /// A polite request to stop.
    Terminate,
    /// Freezes it.
    Stop,
    /// Lets it go on.
    Continue,
}

impl Signal {
    fn word(self) -> &'static str {
        match self {
            Self::Kill => "KILL",
            Self::Terminate => "TERM",
            Self::Stop => "STOP",
            Self::Continue => "CONT",
        }
    }
}

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    name: &'static str,
    pid: u32,
    shell: Child,
    /// The end of this pipe is the order to kill.
    _leash: ChildStdin,
    addresses: BTreeMap<String, SocketAddr>,
    log: Arc<Mutex<String>>,
}

impl Program {
    /// Starts it and waits until it says where it listens.
    ///
    /// # Errors
    /// When it ends or is silent instead; the error has its log.
    pub async fn start(launch: Launch) -> Result<Self> {
        let mut shell = Self::launch(&launch)?;
        let leash = shell.stdin.take().context("no standard input")?;
        let stdout = shell.stdout.take().context("no standard output")?;
        let stderr = shell.stderr.take().context("no standard error")?;
        let log = Arc::new(Mutex::new(String::new()));
        task::spawn(
            "a program's log",
            gather(stderr, log.clone(), launch.show_log),
        );
        let mut lines = BufReader::new(stdout).lines();
        let started = tokio::time::timeout(START_LIMIT, listening(&mut lines)).await;
        let told = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (pid, addresses) = started
            .with_context(|| format!("it did not listen within {START_LIMIT:?}"))
            .flatten()
            .with_context(|| format!("{}:\n{told}", launch.name))?;
        task::spawn("a program's output", async move {
            while let Ok(Some(line)) = lines.next_line().await {
                println!("{line}");
            }
        });
        Ok(Self {
            name: launch.name,
            pid,
            shell,
            _leash: leash,
            addresses,
            log,
        })
    }

    fn launch(launch: &Launch) -> Result<Child> {
        Command::new("sh")
            .args(["-c", SHELL, launch.name])
            .arg(&launch.binary)
            .args(&launch.arguments)
            .envs(launch.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in the terminal is for us; we stop the programs in their turn.
            .process_group(0)
            .spawn()
            .context("cannot start sh")
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Where it listens for `what`.
    ///
    /// # Errors
    /// When it has not said so.
    pub fn address(&self, what: &str) -> Result<SocketAddr> {
        let address = self.addresses.get(what).copied();
        address.with_context(|| format!("{} did not say where {what} is", self.name))
    }

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn signal(&self, signal: Signal) -> Result<()> {
        let kill = Command::new("kill")
            .args(["-s", signal.word(), &self.pid.to_string()])
            .stderr(Stdio::null())
            .status();
        let sent = kill.await.context("cannot run kill")?;
        ensure!(sent.success(), "{} ({}) is gone", self.name, self.pid);
        Ok(())
    }

    /// Kills it as `kill -9` does, and waits for its end.
    ///
    /// # Errors
    /// When it is gone already.
    pub async fn kill(mut self) -> Result<()> {
        self.signal(Signal::Kill).await?;
        self.shell.wait().await?;
        Ok(())
    }

    /// Asks it to stop, and waits for its end.
    ///
    /// # Errors
    /// When it is gone already, or does not end within `limit`.
    pub async fn stop(mut self, limit: Duration) -> Result<ExitStatus> {
        self.signal(Signal::Terminate).await?;
        let ended = tokio::time::timeout(limit, self.shell.wait()).await;
        let ended =
            ended.with_context(|| format!("{} did not stop:\n{}", self.name, self.log()))?;
        Ok(ended?)
    }
}

async fn gather(from: impl AsyncRead + Unpin, log: Arc<Mutex<String>>, show: bool) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if show {
            eprintln!("{line}");
        }
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push_str(&line);
        log.push('\n');
    }
}

/// Reads the process id, then where it listens. Never 0: that would be a signal to ourselves.
async fn listening(
    lines: &mut Lines<BufReader<ChildStdout>>,
) -> Result<(u32, BTreeMap<String, SocketAddr>)> {
    let first = lines.next_line().await?.unwrap_or_default();
    let pid = first.strip_prefix("pid ").and_then(|pid| pid.parse().ok());
    let pid = pid.filter(|pid| *pid != 0);
    let pid = pid.with_context(|| format!("the shell told no process id but {first:?}"))?;
    while let Some(line) = lines.next_line().await? {
        if let Some(addresses) = line.strip_prefix("listening ") {
            return Ok((pid, parse(addresses)?));
        }
    }
    bail!("it ended before it listened")
}

/// `webhooks=127.0.0.1:1 ops=127.0.0.1:2`
fn parse(addresses: &str) -> Result<BTreeMap<String, SocketAddr>> {
    let one = |pair: &str| {
        let (what, address) = pair.split_once('=').context("no =")?;
        Ok((what.to_owned(), address.parse()?))
    };
    let all = addresses.split_whitespace().map(one).collect::<Result<_>>();
    all.with_context(|| format!("cannot read addresses: {addresses}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(script: &str) -> Launch {
        Launch {
            name: "test program",
            binary: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: Vec::new(),
            show_log: false,
        }
    }

    const LISTENS: &str = "echo listening ops=127.0.0.1:9; exec sleep 1000";

    #[tokio::test]
    async fn a_program_is_killed_when_it_is_dropped() {
        let program = Program::start(launch(LISTENS)).await.unwrap();
        assert_eq!(program.address("ops").unwrap().port(), 9);
        let pid = program.pid();
        drop(program);
        let gone = crate::mongo::wait::until("the end", Duration::from_secs(5), async || {
            let alive = PathBuf::from(format!("/proc/{pid}/cmdline"));
            let zombie = std::fs::read_to_string(&alive).is_ok_and(|line| line.is_empty());
            Ok((!alive.exists() || zombie).then_some(()))
        });
        gone.await.unwrap();
    }

    #[tokio::test]
    async fn a_program_that_speaks_at_once_is_known_by_its_own_id() {
        for _ in 0..20 {
            let program = Program::start(launch(LISTENS)).await.unwrap();
            let program_itself = std::fs::read_link(format!("/proc/{}/exe", program.pid()));
            assert!(program_itself.is_ok(), "{program_itself:?}");
        }
    }

    #[tokio::test]
    async fn a_program_that_ends_early_says_why() {
        let error = Program::start(launch("echo the reason >&2; exit 64"))
            .await
            .unwrap_err();
        assert!(
            format!("{error:#}").contains("it ended before it listened"),
            "{error:#}"
        );
    }

    #[tokio::test]
    async fn a_stopped_program_tells_its_exit_code() {
        let script =
            "trap 'exit 7' TERM; echo listening ops=127.0.0.1:9; while :; do sleep 0.05; done";
        let program = Program::start(launch(script)).await.unwrap();
        let status = program.stop(Duration::from_secs(5)).await.unwrap();
        assert_eq!(status.code(), Some(7));
    }
}
