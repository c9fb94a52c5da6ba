//! What a running program counts, as its ops port says.

use anyhow::{Context, Result};

use super::Program;
use crate::stripe::delivery::plain_client;

/// A counter without labels.
///
/// # Errors
/// When the program does not answer, or has no such counter.
pub async fn counter(program: &Program, name: &str) -> Result<u64> {
    let url = format!("http://{}/metrics", program.address("ops")?);
    let text = plain_client()?.get(url).send().await?.text().await?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let value = value.with_context(|| format!("there is no counter {name}"))?;
    Ok(value.trim().parse()?)
}

/// How many transactions a worker ran again after a write conflict.
///
/// # Errors
/// As [`counter`].
pub async fn conflicts(worker: &Program) -> Result<u64> {
    counter(worker, "hookledger_conflicts_total").await
}
