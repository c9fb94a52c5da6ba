//! Stripe's own SDK as the judge: it signs, we must accept.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// The SDK, pinned.
const PACKAGE: &str = "stripe@23.1.0";

/// Prints the header for the body on standard input.
const SIGN: &str = "
const Stripe = require('stripe');
const payload = require('fs').readFileSync(0);
const stripe = new Stripe('sk_test_unused');
const secret = process.argv[1];
process.stdout.write(stripe.webhooks.generateTestHeaderString({ payload, secret }));
";

/// Fetches the SDK into `folder`. A test that can't have its judge fails.
///
/// # Errors
/// When npm is missing or can't fetch it.
pub async fn fetch(folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--ignore-scripts",
        PACKAGE,
    ]);
    let fetched = npm.current_dir(folder).status();
    let fetched = fetched
        .await
        .context("npm is needed for Stripe's own SDK")?;
    ensure!(fetched.success(), "npm could not fetch {PACKAGE}");
    Ok(())
}

/// The signature header that the SDK in `folder` makes for `body` now.
///
/// # Errors
/// When node is missing or the SDK refuses.
pub async fn sign(folder: &Path, body: &str, secret: &str) -> Result<String> {
    let mut node = Command::new("node")
        .args(["-e", SIGN, secret])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("node is needed for Stripe's own SDK")?;
    let mut input = node.stdin.take().context("no standard input")?;
    input.write_all(body.as_bytes()).await?;
    drop(input);
    let output = node.wait_with_output().await?;
    ensure!(output.status.success(), "the SDK did not sign");
    Ok(String::from_utf8(output.stdout)?)
}
