//! Addresses: what to listen on, and whom to call.

use std::net::SocketAddr;

use url::{Host, Url};

use super::area::Area;
use super::fault::{Checked, Faults};

/// An address to bind. Numbers only, so that nothing is looked up at boot.
pub(super) fn read_bind(
    area: &Area<'_>,
    name: &str,
    default: SocketAddr,
    faults: &mut Faults,
) -> Checked<SocketAddr> {
    let what = "an address and a port, such as 127.0.0.1:8080 or [::1]:8080";
    Ok(area.parsed(name, what, faults)?.unwrap_or(default))
}

/// A web address without credentials: they would end up in logs and traces of others.
/// Nothing of it is repeated in a fault.
pub(super) fn read_url(area: &Area<'_>, name: &str, faults: &mut Faults) -> Checked<Option<Url>> {
    let what = "a whole address, such as https://app.example.com/hooks";
    let Some(url) = area.parsed::<Url>(name, what, faults)? else {
        return Ok(None);
    };
    let reason = if !matches!(url.scheme(), "http" | "https") {
        "must begin with https://"
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not hold a user or password"
    } else if url.fragment().is_some() {
        "must not end in a #fragment, which is never sent"
    } else {
        return Ok(Some(url));
    };
    Err(faults.add(area.key(name), reason))
}

/// A web address without credentials, and without its query, which may hold a token.
pub(super) fn masked_url(url: &Url) -> String {
    let Some(host) = url.host_str() else {
        return "***".to_owned();
    };
    let port = url
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let user = if url.username().is_empty() && url.password().is_none() {
        ""
    } else {
        "***@"
    };
    let query = if url.query().is_some() { "?***" } else { "" };
    format!("{}://{user}{host}{port}{}{query}", url.scheme(), url.path())
}

/// Whether the host is this machine by its very name.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}
