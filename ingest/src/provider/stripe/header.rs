//! The grammar of `Stripe-Signature`: elements between commas, each a key, `=` and a value.
//! One `t`; any number of `v1`; elements with other keys are for other readers. No white
//! space anywhere.

use super::super::VerifyError;
use super::super::hmac::Signature;

/// A time of at most twelve digits is good for 30,000 years and far from any overflow;
/// one in milliseconds has thirteen.
const MAX_TIME_DIGITS: usize = 12;

/// What the header says. Nothing of it is proven yet.
pub(super) struct Header<'a> {
    /// The time as it is written: this is what is signed, never a number printed anew.
    pub(super) time_text: &'a [u8],
    /// The same, in seconds since 1970.
    pub(super) time: i64,
    /// Its well-formed `v1` signatures. Malformed ones are left out, so that they can't
    /// hide a valid one.
    pub(super) signatures: Vec<Signature>,
}

impl<'a> Header<'a> {
    pub(super) fn parse(value: &'a [u8]) -> Result<Self, VerifyError> {
        let mut time = None;
        let mut any_v1 = false;
        let mut signatures = Vec::new();
        for element in value.split(|&byte| byte == b',') {
            let (key, value) = split(element).ok_or(VerifyError::MalformedHeader)?;
            match key {
                // With two times it would be a matter of taste which of them is checked.
                b"t" if time.is_some() => return Err(VerifyError::MalformedHeader),
                b"t" => time = Some((value, parse_time(value)?)),
                b"v1" => {
                    any_v1 = true;
                    signatures.extend(Signature::from_lower_hex(value));
                }
                // v0 is a decoy on test events, and a later scheme is not ours to judge.
                _ => {}
            }
        }
        let (time_text, time) = time.ok_or(VerifyError::MalformedHeader)?;
        if !any_v1 {
            return Err(VerifyError::NoKnownScheme);
        }
        Ok(Self {
            time_text,
            time,
            signatures,
        })
    }
}

/// An element's key and value, parted at the first `=`.
fn split(element: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = element.iter().position(|&byte| byte == b'=')?;
    Some((&element[..at], &element[at + 1..]))
}

/// Digits alone, as Stripe writes them: no sign, no dot, no space, no leading zero. What a
/// lenient reader would take for the same number is not the text that was signed.
fn parse_time(text: &[u8]) -> Result<i64, VerifyError> {
    let digits = (1..=MAX_TIME_DIGITS).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let padded = text.len() > 1 && text.starts_with(b"0");
    if !digits || padded {
        return Err(VerifyError::MalformedHeader);
    }
    let add = |number: i64, digit: &u8| number * 10 + i64::from(digit - b'0');
    Ok(text.iter().fold(0, add))
}
