//! The `Stripe-Signature` header: <https://docs.stripe.com/webhooks#verify-manually>.

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The header's name.
pub const HEADER: &str = "Stripe-Signature";

/// Signs a body with an endpoint's secret (all of it, `whsec_` included) at a time in unix seconds, as Stripe
/// does at each attempt to deliver.
///
/// The MAC is over the time, a dot and the raw body.
#[must_use]
pub fn header(body: &[u8], secret: &str, at: i64) -> String {
    format!("t={at},v1={}", v1(body, secret, at))
}

#[allow(
    clippy::expect_used,
    reason = "HMAC takes keys of any length; the type says otherwise for other MACs"
)]
fn v1(body: &[u8], secret: &str, at: i64) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(at.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::header;

    /// Made and accepted by the official SDKs (stripe-node 23.1.0, stripe-python 16.1.0, stripe-go v86).
    #[test]
    fn the_signature_is_the_official_sdks() {
        let body = br#"{"id":"evt_forge0001","object":"event","api_version":"2026-01-01.forge","created":1767225598,"livemode":false,"pending_webhooks":1,"type":"widget.polished","data":{"object":{"id":"wid_1","object":"widget"}},"request":{"id":null,"idempotency_key":null}}"#;
        assert_eq!(
            header(
                body,
                "whsec_cTPV16qt3SxVNu7grWNwRUMSKdQb6uGu",
                1_767_225_600
            ),
            "t=1767225600,v1=c0a62bd3f6c68ac904e7ec79a570743babc121805f7b51bcff32251703164fee"
        );
    }
}
