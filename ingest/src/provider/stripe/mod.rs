//! Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]…`, HMAC-SHA256 over the
//! time's text, a dot and the raw body, by the whole secret with its `whsec_`.
//!
//! Where Stripe's own libraries disagree the stricter reading holds, unless it would refuse
//! what Stripe really sends: docs/providers.md lists every such case.

mod header;
#[cfg(test)]
mod tests;

use std::time::Duration;

use actix_web::http::header::HeaderMap;
use hookledger_shared::config::Secret;

use self::header::Header;
use super::VerifyError;
use super::hmac::Key;

/// The header's name. Names are case-insensitive.
const HEADER: &str = "stripe-signature";

/// Verifies one Stripe endpoint's deliveries.
#[derive(Debug)]
pub struct Verifier {
    keys: Vec<Key>,
    tolerance_s: u64,
}

impl Verifier {
    pub(super) fn new(secrets: &[Secret], tolerance: Duration) -> Self {
        let key = |secret: &Secret| Key::new(secret.expose().as_bytes());
        Self {
            keys: secrets.iter().map(key).collect(),
            tolerance_s: tolerance.as_secs(),
        }
    }

    /// Which of the secrets signed this body.
    pub(super) fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: i64,
    ) -> Result<usize, VerifyError> {
        let header = Header::parse(the_only(headers)?)?;
        let secret = self
            .matching(&header, body)
            .ok_or(VerifyError::BadSignature)?;
        // Only now: a stranger learns nothing from a time that is not signed.
        self.check_time(header.time, now)?;
        Ok(secret)
    }

    /// Every signature is tried with every secret: while one is rolled there are two of each.
    fn matching(&self, header: &Header<'_>, body: &[u8]) -> Option<usize> {
        if header.signatures.is_empty() {
            return None;
        }
        self.keys.iter().position(|key| {
            let ours = key.sign(&[header.time_text, b".", body]);
            header.signatures.contains(&ours)
        })
    }

    /// Both ways, and exactly at the limit is still in time.
    fn check_time(&self, time: i64, now: i64) -> Result<(), VerifyError> {
        if now.abs_diff(time) <= self.tolerance_s {
            Ok(())
        } else if time < now {
            Err(VerifyError::TimestampTooOld)
        } else {
            Err(VerifyError::TimestampTooNew)
        }
    }
}

/// The header's value. A second one is refused: which of them counts differs from one HTTP
/// library to the next, and Stripe sends one.
fn the_only(headers: &HeaderMap) -> Result<&[u8], VerifyError> {
    let mut values = headers.get_all(HEADER);
    let value = values.next().ok_or(VerifyError::MissingHeader)?.as_bytes();
    match values.next() {
        Some(_) => Err(VerifyError::MalformedHeader),
        None if value.is_empty() => Err(VerifyError::MissingHeader),
        None => Ok(value),
    }
}
