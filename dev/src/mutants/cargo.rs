//! Runs exactly one test in a tree.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use super::Mutation;
use super::tree::Tree;
use crate::environment;

/// How long a test may run: without its rule it may wait for ever.
const PATIENCE: Duration = Duration::from_secs(180);

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    Passed,
    Failed,
    /// It had not ended when our patience had.
    Hung,
    DidNotCompile,
}

pub(super) struct Cargo {
    tree: PathBuf,
    target: PathBuf,
}

impl Cargo {
    pub(super) fn of(tree: &Tree) -> Self {
        Self {
            tree: tree.path().to_owned(),
            target: tree.target(),
        }
    }

    /// Compiles the mutation's test and runs it.
    pub(super) async fn test(&self, mutation: &Mutation) -> Result<Ran> {
        let compiled = self.command(mutation).arg("--no-run").output();
        let compiled = compiled.await.context("cannot run cargo")?;
        if !compiled.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&compiled.stderr));
            return Ok(Ran::DidNotCompile);
        }
        let mut command = self.command(mutation);
        command.args(["--", "--exact", &mutation.test]);
        let running = command.kill_on_drop(true).output();
        let Ok(output) = tokio::time::timeout(PATIENCE, running).await else {
            return Ok(Ran::Hung);
        };
        let Output { status, stdout, .. } = output.context("cannot run cargo")?;
        let said = String::from_utf8_lossy(&stdout);
        ensure!(
            said.contains("running 1 test\n"),
            "{} is no test of {} {}",
            mutation.test,
            mutation.package,
            mutation.target
        );
        Ok(if status.success() {
            Ran::Passed
        } else {
            Ran::Failed
        })
    }

    fn command(&self, mutation: &Mutation) -> Command {
        let mut command = Command::new(environment::cargo());
        command.args([
            "test",
            "--quiet",
            "--offline",
            "--package",
            &mutation.package,
        ]);
        match mutation.target.as_str() {
            "lib" => command.arg("--lib"),
            name => command.args(["--test", name]),
        };
        command.current_dir(&self.tree).stdin(Stdio::null());
        command.env("CARGO_TARGET_DIR", &self.target);
        command
    }
}
