//! `[[sink]]`: where effects are delivered to.

use std::fmt;

use ipnet::IpNet;
use url::Url;

use super::address;
use super::area::{Area, unique};
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::known::NOT_YET;
use super::nearest::suggestion;
use super::raw::Raw;
use super::secret::{self, Secret};

/// Kinds that are planned.
const LATER: [&str; 2] = ["slack", "smtp"];
/// Kinds that work.
const KINDS: [&str; 2] = ["http", "log"];

/// One destination.
#[derive(Debug, Clone)]
pub struct Sink {
    /// Its name in routes, outbox rows and metrics.
    pub name: String,
    /// What it does with a message.
    pub kind: SinkKind,
}

/// What a sink does with a message.
#[derive(Debug, Clone)]
pub enum SinkKind {
    /// Writes a line, for development.
    Log,
    /// Posts it, signed as Standard Webhooks asks.
    Http(HttpSink),
}

/// An address that messages are posted to.
#[derive(Clone)]
pub struct HttpSink {
    /// Where to; `https` unless the host is this machine.
    pub url: Url,
    /// What signs, [`Secret::webhook_key`] of each; several while one is rolled. Never empty.
    pub secrets: Vec<Secret>,
    /// Networks that may be called although they are not public.
    pub allow_private: Vec<IpNet>,
}

impl HttpSink {
    /// Whether the address is this machine by its very name or number.
    #[must_use]
    pub fn names_this_machine(&self) -> bool {
        address::is_loopback(&self.url)
    }
}

/// Without the address's query, which may hold a token.
impl fmt::Debug for HttpSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSink")
            .field("url", &address::masked_url(&self.url))
            .field("secrets", &self.secrets)
            .field("allow_private", &self.allow_private)
            .finish()
    }
}

/// Every sink; there may be none.
pub(super) fn read_all(
    raw: &Raw,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Vec<Sink>> {
    let areas = Area::each(raw, "sink");
    let read: Vec<_> = areas
        .iter()
        .map(|area| read_one(area, environment, faults))
        .collect();
    unique(names(raw), faults)?;
    read.into_iter().collect()
}

/// The names of all sinks, also of those that are faulty otherwise.
pub(super) fn names(raw: &Raw) -> Vec<(String, &str)> {
    // Faults of the names themselves are noted by who reads the sinks.
    let mut unheard = Faults::default();
    Area::each(raw, "sink")
        .into_iter()
        .filter_map(|area| {
            Some((
                area.key("name"),
                area.required_text("name", &mut unheard).ok()?,
            ))
        })
        .collect()
}

fn read_one(area: &Area<'_>, environment: &Environment, faults: &mut Faults) -> Checked<Sink> {
    let name = area.name("name", faults);
    let kind = read_kind(area, environment, faults);
    Ok(Sink {
        name: name?,
        kind: kind?,
    })
}

fn read_kind(area: &Area<'_>, environment: &Environment, faults: &mut Faults) -> Checked<SinkKind> {
    match area.required_text("kind", faults)? {
        "log" => read_log(area, faults),
        "http" => read_http(area, environment, faults).map(SinkKind::Http),
        later if LATER.contains(&later) => {
            Err(faults.add(area.key("kind"), format!("kind \"{later}\" is {NOT_YET}")))
        }
        unknown => {
            let known = KINDS.into_iter().chain(LATER);
            let message = format!("unknown kind; {}", suggestion(unknown, known));
            Err(faults.add(area.key("kind"), message))
        }
    }
}

/// A log sink has no settings; one that is given some is probably meant to be another kind.
fn read_log(area: &Area<'_>, faults: &mut Faults) -> Checked<SinkKind> {
    let mut read = Ok(SinkKind::Log);
    for name in ["url", "secrets", "allow_private"] {
        if area.has(name) {
            read = Err(faults.add(area.key(name), "means nothing to a sink of kind \"log\""));
        }
    }
    read
}

fn read_http(area: &Area<'_>, environment: &Environment, faults: &mut Faults) -> Checked<HttpSink> {
    let url = read_target(area, faults);
    let secrets = read_secrets(area, environment, faults);
    let allow_private = read_networks(area, faults);
    Ok(HttpSink {
        url: url?,
        secrets: secrets?,
        allow_private: allow_private?,
    })
}

fn read_target(area: &Area<'_>, faults: &mut Faults) -> Checked<Url> {
    let Some(url) = address::read_url(area, "url", faults)? else {
        return Err(faults.add(area.key("url"), "is missing"));
    };
    if url.scheme() == "https" || address::is_loopback(&url) {
        return Ok(url);
    }
    Err(faults.add(
        area.key("url"),
        "must begin with https:// unless the host is this machine",
    ))
}

fn read_secrets(
    area: &Area<'_>,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Vec<Secret>> {
    let references = area.texts("secrets", faults)?;
    let keys: Vec<String> = references.iter().map(|(key, _)| key.clone()).collect();
    let secrets = secret::resolve_all(&area.key("secrets"), references, environment, faults)?;
    let mut read = Ok(());
    for (key, secret) in keys.into_iter().zip(&secrets) {
        if secret.webhook_key().is_none() {
            let rule = "must lead to a Standard Webhooks secret: whsec_ and the base64 of 24 to \
                        64 bytes";
            read = Err(faults.add(key, rule));
        }
    }
    read.map(|()| secrets)
}

fn read_networks(area: &Area<'_>, faults: &mut Faults) -> Checked<Vec<IpNet>> {
    let read: Vec<_> = area
        .texts("allow_private", faults)?
        .into_iter()
        .map(|(key, text)| match text.parse::<IpNet>() {
            Ok(network) => Ok(network.trunc()),
            Err(_) => Err(faults.add(key, "must be a network, such as 10.0.0.0/8")),
        })
        .collect();
    read.into_iter().collect()
}
