//! The Standard Webhooks signature: `v1,` and the base64 of the HMAC-SHA256 of
//! `id.timestamp.body`, one a secret, so that a receiver may know either while one is
//! rolled. <https://www.standardwebhooks.com>

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use hookledger_shared::config::Secret;
use sha2::Sha256;

use crate::outbox::sink::SinkError;

/// A sink's secrets, ready to sign.
pub(super) struct Signer(Vec<Hmac<Sha256>>);

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({} hidden)", self.0.len())
    }
}

impl Signer {
    pub(super) fn new(sink: &str, secrets: &[Secret]) -> Result<Self, SinkError> {
        let key = |secret: &Secret| Hmac::new_from_slice(&secret.webhook_key()?).ok();
        let keys: Option<Vec<_>> = secrets.iter().map(key).collect();
        let sink = || sink.to_owned();
        match keys {
            None => Err(SinkError::Secret { sink: sink() }),
            Some(keys) if keys.is_empty() => Err(SinkError::Unsigned { sink: sink() }),
            Some(keys) => Ok(Self(keys)),
        }
    }

    /// The header's value.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let signed = self.0.iter().map(|key| {
            let mut mac = key.clone();
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body);
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        });
        signed.collect::<Vec<_>>().join(" ")
    }
}

/// A delivery id as a header can carry it: whatever is not visible ASCII is written as
/// `%XX`, and so is `%`, which keeps different ids different. Keys hold ids of providers
/// and products, which may be any text; nearly all come out unchanged.
pub(super) fn header_id(id: &str) -> String {
    let mut header = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            header.push(char::from(byte));
        } else {
            // Writing into a string can't fail.
            let _ = write!(header, "%{byte:02X}");
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_one_of_the_specification() {
        // The specification's own example.
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signer = Signer::new("app", &[secret]).unwrap();
        let body = br#"{"test": 2432232314}"#;
        assert_eq!(
            signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn while_a_secret_is_rolled_both_sign() {
        let old = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let new = Secret::new("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz");
        let one = |secret: &Secret| Signer::new("app", std::slice::from_ref(secret)).unwrap();
        let both = Signer::new("app", &[new.clone(), old.clone()]).unwrap();
        assert_eq!(
            both.sign("id", 1, b"{}"),
            format!(
                "{} {}",
                one(&new).sign("id", 1, b"{}"),
                one(&old).sign("id", 1, b"{}")
            )
        );
    }

    #[test]
    fn a_sink_without_a_usable_secret_is_refused() {
        let bad = [Secret::new("plain")];
        assert!(matches!(
            Signer::new("app", &bad),
            Err(SinkError::Secret { .. })
        ));
        assert!(matches!(
            Signer::new("app", &[]),
            Err(SinkError::Unsigned { .. })
        ));
    }

    #[test]
    fn any_id_fits_into_a_header_and_stays_itself() {
        for (id, header) in [
            ("self:live:receipt:in_1", "self:live:receipt:in_1"),
            ("a b", "a%20b"),
            ("a%20b", "a%2520b"),
            ("x\r\nEvil: 1", "x%0D%0AEvil:%201"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(header_id(id), header);
        }
    }
}
