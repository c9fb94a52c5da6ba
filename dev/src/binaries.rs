//! Builds the product's own two programs and says where they are.
//!
//! `cargo run` and `cargo test` build nothing of other packages but their libraries, so whoever wants to start
//! the programs asks here. When nothing has changed this takes a fraction of a second.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::environment;

const INGEST: &str = "hookledger-ingest";
const WORKER: &str = "hookledger-worker";

/// Where the two programs are.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// Receives deliveries.
    pub ingest: PathBuf,
    /// Applies them, and serves operators.
    pub worker: PathBuf,
}

/// Builds both programs as this one was built (debug or release), once a process.
///
/// # Errors
/// When cargo can't be run or the build fails; the compiler's words are on standard error.
pub async fn built() -> Result<&'static Binaries> {
    // A static, because the tests of a binary have no common owner.
    static BUILT: OnceCell<Binaries> = OnceCell::const_new();
    BUILT.get_or_try_init(build).await
}

async fn build() -> Result<Binaries> {
    let mut command = Command::new(environment::cargo());
    command.args([
        "build",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ]);
    // The whole workspace, so that dependencies have the features with which `cargo test --workspace` has built
    // them, and are not built twice.
    command.args(["--workspace", "--bin", INGEST, "--bin", WORKER]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // Tests run in their package's folder, and a program may be started from anywhere.
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .await
        .context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "cargo build of {INGEST} and {WORKER} failed"
    );
    let messages =
        String::from_utf8(output.stdout).context("cargo printed something that is no text")?;
    Ok(Binaries {
        ingest: executable(&messages, INGEST)?,
        worker: executable(&messages, WORKER)?,
    })
}

/// What we read of a line of cargo's JSON messages.
#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

fn executable(messages: &str, name: &str) -> Result<PathBuf> {
    let parsed = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let mut ours = parsed.filter(|message| {
        message
            .target
            .as_ref()
            .is_some_and(|target| target.name == name)
    });
    ours.find_map(|message| message.executable)
        .with_context(|| format!("cargo did not say where {name} is"))
}

#[cfg(test)]
mod tests {
    use super::executable;

    #[test]
    fn the_executable_is_the_one_cargo_names() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"hookledger-worker"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"hookledger-worker"},"executable":"/t/debug/hookledger-worker"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(
            executable(messages, "hookledger-worker").unwrap().to_str(),
            Some("/t/debug/hookledger-worker")
        );
        assert!(executable(messages, "hookledger-ingest").is_err());
    }
}
