//! Waiting for a condition, never for a time.

use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio::time::Instant;

/// Between two looks: short against what is waited for (elections, processes), long against a look.
const PAUSE: Duration = Duration::from_millis(50);

/// Looks again and again until `look` finds something. An error of `look` counts as "not yet".
///
/// # Errors
/// When nothing was found within the limit; the message has the last error of `look`.
pub async fn until<T>(
    what: &str,
    within: Duration,
    mut look: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + within;
    loop {
        let seen = look().await;
        if let Ok(Some(found)) = seen {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            let last = seen.err().unwrap_or_else(|| anyhow!("it was not so"));
            return Err(last.context(format!("waited {within:?} for {what}")));
        }
        tokio::time::sleep(PAUSE).await;
    }
}
