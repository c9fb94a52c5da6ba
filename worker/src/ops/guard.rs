//! Who may ask. With a token every request needs it. Without one the port is loopback
//! only, and a request must also name a loopback host: a web page that lets its own name
//! resolve to 127.0.0.1 must not read an operator's port.

use std::net::IpAddr;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, HOST, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};
use hookledger_shared::config::Secret;
use serde_json::json;
use subtle::ConstantTimeEq;

use super::Ops;

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Unauthorized,
    WrongHost,
}

fn judge(headers: &HeaderMap, token: Option<&Secret>) -> Result<(), Refusal> {
    match token {
        Some(token) if bears(headers, token) => Ok(()),
        Some(_) => Err(Refusal::Unauthorized),
        None if names_loopback(headers) => Ok(()),
        None => Err(Refusal::WrongHost),
    }
}

fn bears(headers: &HeaderMap, token: &Secret) -> bool {
    let mut all = headers.get_all(AUTHORIZATION);
    let (Some(only), None) = (all.next(), all.next()) else {
        return false;
    };
    let bearer = only.as_bytes().strip_prefix(b"Bearer ");
    bearer.is_some_and(|bearer| bearer.ct_eq(token.expose().as_bytes()).into())
}

fn names_loopback(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(HOST);
    let (Some(only), None) = (all.next(), all.next()) else {
        return false;
    };
    let Some((name, port)) = only.to_str().ok().and_then(parted) else {
        return false;
    };
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let address = name
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    address || name.eq_ignore_ascii_case("localhost")
}

/// A host's name and port; what is left of it after either makes it no host at all.
fn parted(host: &str) -> Option<(&str, &str)> {
    match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']')? {
            (name, "") => Some((name, "")),
            (name, port) => Some((name, port.strip_prefix(':')?)),
        },
        None => Some(host.split_once(':').unwrap_or((host, ""))),
    }
}

/// Lets a request through, or answers it.
pub(super) async fn check(
    ops: web::Data<Ops>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let token = ops.context.settings.ops_token.as_ref();
    let refused = match judge(request.headers(), token) {
        Ok(()) => return Ok(next.call(request).await?.map_into_boxed_body()),
        Err(refused) => refused,
    };
    let response = match refused {
        Refusal::Unauthorized => HttpResponse::Unauthorized()
            .insert_header(("WWW-Authenticate", "Bearer"))
            .json(json!({ "error": "unauthorized" })),
        Refusal::WrongHost => HttpResponse::Forbidden().json(json!({ "error": "wrong_host" })),
    };
    Ok(request.into_response(response))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn without_a_token_only_loopback_names_may_ask() {
        for (host, allowed) in [
            ("127.0.0.1:9090", true),
            ("localhost:9090", true),
            ("LOCALHOST", true),
            ("[::1]:9090", true),
            ("evil.example:9090", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("[::1].evil.example", false),
            ("[::1", false),
            ("localhost:evil.example", false),
            ("127.0.0.1:9090@evil.example", false),
            ("", false),
        ] {
            let judged = judge(&headers(&[(HOST, host)]), None);
            assert_eq!(judged.is_ok(), allowed, "{host}");
        }
        let two = headers(&[(HOST, "localhost"), (HOST, "evil.example")]);
        assert_eq!(judge(&two, None), Err(Refusal::WrongHost));
        assert_eq!(judge(&headers(&[]), None), Err(Refusal::WrongHost));
    }

    #[test]
    fn with_a_token_only_the_token_counts() {
        let token = Secret::new("0123456789abcdef");
        for (bearer, allowed) in [
            ("Bearer 0123456789abcdef", true),
            ("Bearer 0123456789abcdeg", false),
            ("Bearer 0123456789abcde", false),
            ("Bearer ", false),
            ("bearer 0123456789abcdef", false),
            ("0123456789abcdef", false),
        ] {
            let judged = judge(&headers(&[(AUTHORIZATION, bearer)]), Some(&token));
            assert_eq!(judged.is_ok(), allowed, "{bearer}");
        }
        let none = headers(&[(HOST, "localhost")]);
        assert_eq!(judge(&none, Some(&token)), Err(Refusal::Unauthorized));
    }
}
