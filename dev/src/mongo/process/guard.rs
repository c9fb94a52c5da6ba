//! The small shell between us and the server, which never lets the server outlive us.
//!
//! The server is not our child but that of `watchdog.sh`, which reads a pipe from us: it passes signals on,
//! and at the end of the pipe it kills the server and removes its data. So no unsafe code is needed here,
//! and a launcher that dies by `kill -9` leaves nothing behind.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use tokio::sync::watch;

const WATCHDOG: &str = include_str!("watchdog.sh");

/// What can be sent to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Kill,
    Terminate,
    Pause,
    Resume,
}

impl Signal {
    /// As the shell's `kill -s` calls it.
    fn word(self) -> &'static str {
        match self {
            Self::Kill => "KILL",
            Self::Terminate => "TERM",
            Self::Pause => "STOP",
            Self::Resume => "CONT",
        }
    }
}

/// One run of the server with the shell that guards it. Dropping it ends the server and its data.
pub(super) struct Guard {
    pid: u32,
    shell: Child,
    /// Absent once closed, which is the shell's order to end everything.
    words: Option<ChildStdin>,
    answers: BufReader<ChildStderr>,
    /// What the server printed, once it has ended.
    output: watch::Receiver<Option<String>>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// Starts the shell and the server. The folder `data` is the shell's to remove from here on.
    pub(super) fn launch(binary: &Path, data: &Path, arguments: &[String]) -> Result<Self> {
        let mut command = Command::new("sh");
        command
            .args(["-c", WATCHDOG, "hookledger-watchdog"])
            .arg(data)
            .arg(binary)
            .args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A group of its own: Ctrl-C in the terminal is for the launcher, which ends the server in its turn.
        command.process_group(0);
        let mut shell = command.spawn().context("cannot start sh")?;
        let words = shell.stdin.take();
        let answers = BufReader::new(shell.stderr.take().context("sh has no standard error")?);
        let mut output = BufReader::new(shell.stdout.take().context("sh has no standard output")?);
        let mut first = String::new();
        output
            .read_line(&mut first)
            .context("cannot read from sh")?;
        let pid = first
            .trim()
            .parse()
            .map_err(|_| anyhow!("sh did not tell a process id but {first:?}"))?;
        Ok(Self {
            pid,
            shell,
            words,
            answers,
            output: watch_for_the_end(output)?,
        })
    }

    /// The server's process id. It stays the server's for as long as the guard lives, also after its end.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// What the server printed, once it has ended; nothing while it runs.
    pub(super) fn last_output(&self) -> Option<String> {
        self.output.borrow().clone()
    }

    /// Resolves when the server has ended.
    pub(super) async fn ended(&self) {
        // An error means that the watching thread is gone, and it goes only when the server has ended.
        let _ = self.output.clone().wait_for(Option::is_some).await;
    }

    /// Has the shell send a signal, and waits for its word that it has; it gives it at once.
    pub(super) fn send(&mut self, signal: Signal) -> Result<()> {
        let word = signal.word();
        let words = self.words.as_mut().context("the server was let go")?;
        writeln!(words, "{word}").context("the shell that guards mongod is gone")?;
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .context("cannot read from the shell that guards mongod")?;
        match answer.trim() {
            "done" => Ok(()),
            other => bail!("SIG{word} was not sent: {other}"),
        }
    }

    /// Lets go of a server that has ended, and leaves its data.
    pub(super) fn release(mut self) {
        if let Some(mut words) = self.words.take() {
            // A shell that is gone already can't remove anything either.
            let _ = writeln!(words, "release");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.words.take());
        // The shell kills the server and removes its data: milliseconds, and no zombie stays behind.
        let _ = self.shell.wait();
    }
}

/// The server holds the other end of `output` for as long as it lives, so its end is the end of file. A thread
/// waits for it, because it must outlive the async runtime in which the server was started.
fn watch_for_the_end(
    mut output: BufReader<ChildStdout>,
) -> Result<watch::Receiver<Option<String>>> {
    let (sender, receiver) = watch::channel(None);
    let watching = move || {
        let mut said = Vec::new();
        // A pipe that can't be read any more ends the watch like a closed one.
        let _ = output.read_to_end(&mut said);
        let _ = sender.send(Some(String::from_utf8_lossy(&said).into_owned()));
    };
    std::thread::Builder::new()
        .name("mongod-watch".into())
        .spawn(watching)
        .context("cannot start a thread")?;
    Ok(receiver)
}
