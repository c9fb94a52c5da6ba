//! What holds for the launcher as a process of its own: nothing it started outlives it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hookledger_dev::mongo::wait;

/// "A few seconds" is the promise; it takes milliseconds on an idle machine.
const SOON: Duration = Duration::from_secs(10);

/// A member as `cargo dev mongod` prints it.
struct Printed {
    pid: u32,
    data: PathBuf,
}

impl Printed {
    fn is_gone(&self) -> bool {
        !Path::new(&format!("/proc/{}", self.pid)).exists() && !self.data.exists()
    }
}

/// Starts the launcher and waits until its replica set can be used.
fn launch() -> (Child, Vec<Printed>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookledger-dev"));
    let mut launcher = command
        .args(["mongod", "--three"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut members = Vec::new();
    for line in BufReader::new(launcher.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["member", pid, data] => members.push(Printed {
                pid: pid.parse().unwrap(),
                data: data.into(),
            }),
            ["uri", _] => break,
            _ => panic!("unexpected: {line}"),
        }
    }
    assert_eq!(members.len(), 3);
    assert!(members.iter().all(
        |member| Path::new(&format!("/proc/{}", member.pid)).exists() && member.data.exists()
    ));
    (launcher, members)
}

async fn until_all_are_gone(members: &[Printed]) {
    wait::until("no server and no data", SOON, async || {
        Ok(members.iter().all(Printed::is_gone).then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn no_server_survives_a_launcher_that_was_killed_outright() {
    let (mut launcher, members) = launch();
    // `Child::kill` is SIGKILL: the launcher can do nothing about it.
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    until_all_are_gone(&members).await;
}

#[tokio::test]
async fn a_launcher_that_is_asked_to_end_stops_its_servers_first() {
    let (mut launcher, members) = launch();
    let asked = Command::new("kill")
        .arg(launcher.id().to_string())
        .status()
        .unwrap();
    assert!(asked.success());
    assert!(launcher.wait().unwrap().success());
    assert!(members.iter().all(Printed::is_gone));
}
