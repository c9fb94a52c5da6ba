//! The verifier's rules. The official libraries' vectors run through the HTTP surface, in
//! the integration tests.

use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use hookledger_shared::config::Secret;

use super::super::VerifyError::{self, *};
use super::super::hmac::Key;
use super::{HEADER, Verifier};

const NOW: i64 = 1_767_225_600;
const BODY: &[u8] = br#"{"id":"evt_1"}"#;
const OLD: &str = "whsec_old";
const NEW: &str = "whsec_new";

fn verifier() -> Verifier {
    Verifier::new(
        &[Secret::new(OLD), Secret::new(NEW)],
        Duration::from_secs(300),
    )
}

fn headers(values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        let name = HeaderName::from_static(HEADER);
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// The hexadecimal signature that a sender with `secret` makes for the time's text.
fn hex(secret: &str, time: &str) -> String {
    use hmac::{Hmac, Mac};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(BODY);
    hex::encode(mac.finalize().into_bytes())
}

fn verified(value: &str) -> Result<usize, VerifyError> {
    verifier().verify(&headers(&[value]), BODY, NOW)
}

fn signed_at(time: &str) -> Result<usize, VerifyError> {
    verified(&format!("t={time},v1={}", hex(OLD, time)))
}

#[test]
fn the_matching_secret_is_named_whichever_signature_it_made() {
    let (old, new) = (hex(OLD, "1767225600"), hex(NEW, "1767225600"));
    let other = hex("whsec_other", "1767225600");
    for (signatures, matching) in [
        (format!("v1={old}"), Ok(0)),
        (format!("v1={new}"), Ok(1)),
        (format!("v1={other},v1={new}"), Ok(1)),
        (format!("v1={new},v1={old}"), Ok(0)),
        (format!("v1={other}"), Err(BadSignature)),
        (format!("v1=,v1=junk,v1={new}"), Ok(1)),
        (format!("v0={old},v1={other}"), Err(BadSignature)),
        (format!("v0={old}"), Err(NoKnownScheme)),
        (format!("v2={old}"), Err(NoKnownScheme)),
        (format!("v2=a=b,v1={old}"), Ok(0)),
    ] {
        assert_eq!(
            verified(&format!("t=1767225600,{signatures}")),
            matching,
            "{signatures}"
        );
        assert_eq!(
            verified(&format!("{signatures},t=1767225600")),
            matching,
            "{signatures}"
        );
    }
}

#[test]
fn the_window_is_two_sided_and_its_limit_is_in_time() {
    for (offset, answer) in [
        (0, Ok(0)),
        (-300, Ok(0)),
        (300, Ok(0)),
        (-301, Err(TimestampTooOld)),
        (301, Err(TimestampTooNew)),
    ] {
        assert_eq!(signed_at(&(NOW + offset).to_string()), answer, "{offset}");
    }
    assert_eq!(signed_at("0"), Err(TimestampTooOld));
    assert_eq!(signed_at("999999999999"), Err(TimestampTooNew));
}

#[test]
fn a_clock_far_out_overflows_nothing() {
    for now in [i64::MIN, -1, 0, i64::MAX] {
        let header = format!("t=1767225600,v1={}", hex(OLD, "1767225600"));
        let error = verifier().verify(&headers(&[&header]), BODY, now);
        assert!(
            matches!(error, Err(TimestampTooOld | TimestampTooNew)),
            "{now}"
        );
    }
}

#[test]
fn a_time_is_digits_and_nothing_else_even_when_it_is_signed() {
    for time in [
        "",
        "+1767225600",
        "-1",
        "-1767225600",
        "01767225600",
        "00",
        "1767225600.5",
        "1767225600.",
        " 1767225600",
        "1767225600 ",
        "1767225600abc",
        "1_767_225_600",
        "1.7672256e9",
        "0x69559580",
        "soon",
        "NaN",
        "1767225600000",
        "99999999999999999999",
        "9223372036854775807",
    ] {
        assert_eq!(signed_at(time), Err(MalformedHeader), "{time:?}");
    }
}

#[test]
fn a_forgers_time_is_never_told_from_a_forgers_signature() {
    let wrong = hex("whsec_other", "1");
    assert_eq!(verified(&format!("t=1,v1={wrong}")), Err(BadSignature));
}

#[test]
fn the_grammar_has_no_second_reading() {
    let v1 = hex(OLD, "1767225600");
    let upper = v1.to_uppercase();
    for (header, error) in [
        (
            format!("t=1767225600,t=1767225600,v1={v1}"),
            MalformedHeader,
        ),
        (format!("t=1,t=1767225600,v1={v1}"), MalformedHeader),
        (format!("t=1767225600,v1={v1},"), MalformedHeader),
        (format!(",t=1767225600,v1={v1}"), MalformedHeader),
        (format!("t=1767225600,junk,v1={v1}"), MalformedHeader),
        (format!("t=1767225600;v1={v1}"), MalformedHeader),
        (format!("v1={v1}"), MalformedHeader),
        (format!("T=1767225600,V1={v1}"), MalformedHeader),
        (format!("t = 1767225600,v1 = {v1}"), MalformedHeader),
        (format!("t=1767225600, v1={v1}"), NoKnownScheme),
        ("t=1767225600".to_owned(), NoKnownScheme),
        (format!("t=1767225600,v1={upper}"), BadSignature),
        (format!("t=1767225600,v1={v1}="), BadSignature),
        (format!("t=1767225600,v1={v1} "), BadSignature),
        (format!("t=1767225600,v1={}", &v1[..62]), BadSignature),
        (format!("t=1767225600,v1= {v1}"), BadSignature),
        (format!("t=1767225600,v1=\"{v1}\""), BadSignature),
        (v1.clone(), MalformedHeader),
        (String::new(), MissingHeader),
    ] {
        assert_eq!(verified(&header), Err(error), "{header:?}");
    }
}

#[test]
fn one_signature_header_or_none_at_all() {
    let header = format!("t=1767225600,v1={}", hex(OLD, "1767225600"));
    let verify = |values: &[&str]| verifier().verify(&headers(values), BODY, NOW);
    assert_eq!(verify(&[]), Err(MissingHeader));
    assert_eq!(verify(&[&header]), Ok(0));
    assert_eq!(verify(&[&header, &header]), Err(MalformedHeader));
    assert_eq!(verify(&[&header, ""]), Err(MalformedHeader));
}

#[test]
fn one_changed_byte_of_the_body_is_another_body() {
    let headers = headers(&[&format!("t=1767225600,v1={}", hex(OLD, "1767225600"))]);
    for at in 0..BODY.len() {
        let mut body = BODY.to_vec();
        body[at] ^= 1;
        let answer = verifier().verify(&headers, &body, NOW);
        assert_eq!(answer, Err(BadSignature), "byte {at}");
    }
    let longer = [BODY, b"\n"].concat();
    assert_eq!(verifier().verify(&headers, &longer, NOW), Err(BadSignature));
}

#[test]
fn the_whole_secret_is_the_key() {
    let stripped = hex("old", "1767225600");
    let answer = verified(&format!("t=1767225600,v1={stripped}"));
    assert_eq!(answer, Err(BadSignature));
    assert!(Key::new(b"old").sign(&[BODY]) != Key::new(b"whsec_old").sign(&[BODY]));
}
