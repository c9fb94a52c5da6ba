//! The real program, as an operator starts it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::{PATIENCE, SECRET};

/// A configuration file that is gone with this.
pub(crate) struct ConfigFile(PathBuf);

impl ConfigFile {
    pub(crate) fn new(text: &str) -> Self {
        let name = format!("hookledger-ingest-{:016x}.toml", fastrand::u64(..));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    /// One source `stripe`, free ports, this deployment.
    pub(crate) fn usual(uri: &str, database: &str) -> Self {
        Self::new(&usual(uri, database))
    }
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The text of [`ConfigFile::usual`].
pub(crate) fn usual(uri: &str, database: &str) -> String {
    format!(
        r#"
        [mongodb]
        uri = "{uri}"
        database = "{database}"
        [ingest]
        bind = "127.0.0.1:0"
        ops_bind = "127.0.0.1:0"
        [[source]]
        name = "stripe"
        provider = "stripe"
        secrets = ["env:TEST_SECRET"]
        livemode = false
        "#
    )
}

fn command(config: &ConfigFile) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookledger-ingest"));
    command.arg("--config").arg(&config.0);
    command.env_clear().env("TEST_SECRET", SECRET);
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs it until it ends by itself.
pub(crate) async fn ended(config: &ConfigFile) -> Output {
    let output = command(config).output();
    timeout(PATIENCE, output).await.unwrap().unwrap()
}

/// The program, listening.
pub(crate) struct Program {
    pub(crate) webhooks: SocketAddr,
    pub(crate) ops: SocketAddr,
    child: Child,
    stdout: BufReader<ChildStdout>,
    first_line: String,
}

/// How it ended, and everything it wrote.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) written: String,
    pub(crate) took: Duration,
}

impl Program {
    /// Starts it, and returns once it says where it listens.
    pub(crate) async fn start(config: &ConfigFile, log: &str) -> Self {
        let mut command = command(config);
        command.env("HOOKLEDGER_LOG", log);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first_line = String::new();
        let read = stdout.read_line(&mut first_line);
        timeout(PATIENCE, read).await.unwrap().unwrap();
        let address = |name: &str| {
            let mut words = first_line.split_whitespace();
            let word = words.find_map(|word| word.strip_prefix(name));
            word.unwrap_or_else(|| panic!("{first_line}"))
                .parse()
                .unwrap()
        };
        Self {
            webhooks: address("webhooks="),
            ops: address("ops="),
            child,
            stdout,
            first_line,
        }
    }

    /// How much memory it has in use, in bytes.
    pub(crate) fn resident(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id().unwrap());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.unwrap().trim().trim_end_matches(" kB");
        kib.parse::<usize>().unwrap() * 1_024
    }

    /// SIGTERM.
    pub(crate) async fn terminate(&self) {
        let pid = self.child.id().unwrap().to_string();
        let kill = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(kill.await.unwrap().success());
    }

    /// Waits for its end.
    pub(crate) async fn ended(mut self) -> Ended {
        let began = std::time::Instant::now();
        let mut stderr = self.child.stderr.take().unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        let all = async {
            let (_, _, status) = tokio::join!(
                self.stdout.read_to_string(&mut out),
                stderr.read_to_string(&mut err),
                self.child.wait()
            );
            status.unwrap()
        };
        let status = timeout(PATIENCE, all).await.unwrap();
        Ended {
            status,
            written: self.first_line + &out + &err,
            took: began.elapsed(),
        }
    }
}
