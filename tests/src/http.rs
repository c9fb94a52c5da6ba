//! A look at an ops port.

use anyhow::Result;
use hookledger_dev::stripe::delivery::plain_client;

/// What a GET answers: its status and its text.
///
/// # Errors
/// When there is no answer.
pub async fn get(url: &str) -> Result<(u16, String)> {
    let response = plain_client()?.get(url).send().await?;
    Ok((response.status().as_u16(), response.text().await?))
}
