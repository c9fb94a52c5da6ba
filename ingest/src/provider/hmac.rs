//! HMAC-SHA256 over raw bytes, compared in constant time: what most providers build on.
//! Their headers' grammars are theirs, one file each.

use hmac::digest::CtOutput;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The length of a signature, in bytes.
const LENGTH: usize = 32;

/// A secret made ready for signing. Never printed.
#[derive(Clone)]
pub(super) struct Key(Hmac<Sha256>);

/// A signature. Comparing two takes the same time wherever they differ.
pub(super) struct Signature(CtOutput<Hmac<Sha256>>);

impl Key {
    #[allow(
        clippy::expect_used,
        reason = "HMAC takes keys of any length; the type says otherwise for other MACs"
    )]
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"))
    }

    /// The signature of `parts`, one after the other.
    pub(super) fn sign(&self, parts: &[&[u8]]) -> Signature {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part);
        }
        Signature(mac.finalize())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(hidden)")
    }
}

impl Signature {
    /// Reads exactly 64 lower-case hexadecimal digits; anything else is no signature.
    pub(super) fn from_lower_hex(text: &[u8]) -> Option<Self> {
        if text.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        let mut bytes = [0; LENGTH];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(CtOutput::new(bytes.into())))
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 2 of RFC 4231.
    const KNOWN: &[u8] = b"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

    #[test]
    fn it_is_the_standards_hmac() {
        let signature = Key::new(b"Jefe").sign(&[b"what do ya want ", b"for nothing?"]);
        assert!(Signature::from_lower_hex(KNOWN).unwrap() == signature);
        assert!(Key::new(b"jefe").sign(&[b"what do ya want for nothing?"]) != signature);
    }

    #[test]
    fn only_64_lower_case_digits_are_a_signature() {
        let upper = KNOWN.to_ascii_uppercase();
        let longer = [KNOWN, b"00"].concat();
        let padded = [KNOWN, b"="].concat();
        let other = [&KNOWN[..63], b"g"].concat();
        let wrong: [&[u8]; 7] = [
            b"",
            &upper,
            &longer,
            &padded,
            &other,
            &KNOWN[..63],
            &KNOWN[..62],
        ];
        for text in wrong {
            assert!(Signature::from_lower_hex(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        assert_eq!(format!("{:?}", Key::new(b"hunter2")), "Key(hidden)");
    }
}
