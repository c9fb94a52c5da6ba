//! `[stripe]`: asking Stripe's API where events alone can't tell. Without a key nothing is
//! ever asked.

use std::fmt;

use url::Url;

use super::address;
use super::area::Area;
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::raw::Raw;
use super::secret::{self, Secret};

const DEFAULT_BASE: &str = "https://api.stripe.com";
/// Secret and restricted keys of each mode. A publishable key reads nothing, and an
/// organisation's needs a context that we don't have.
const PREFIXES: [(&str, bool); 4] = [
    ("sk_test_", false),
    ("rk_test_", false),
    ("sk_live_", true),
    ("rk_live_", true),
];
/// What follows the prefix can't be guessed, so it is not short.
const MIN_KEY_BYTES: usize = 16;

/// How Stripe's API is asked.
#[derive(Clone)]
pub struct StripeApi {
    /// What we prove ourselves with.
    pub key: Secret,
    /// The mode of the key: it sees nothing of the other one.
    pub livemode: bool,
    /// Where the API is; `https` unless the host is this machine.
    pub base: Url,
}

/// Without credentials of any kind.
impl fmt::Debug for StripeApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripeApi")
            .field("key", &self.key)
            .field("livemode", &self.livemode)
            .field("base", &address::masked_url(&self.base))
            .finish()
    }
}

impl StripeApi {
    /// Nothing, when there is no key.
    pub(super) fn read(
        raw: &Raw,
        environment: &Environment,
        faults: &mut Faults,
    ) -> Checked<Option<Self>> {
        let area = Area::of(raw, "stripe");
        let base = read_base(&area, faults);
        let key = read_key(&area, environment, faults);
        let (base, key) = (base?, key?);
        match (key, base) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(faults.add(
                area.key("api_key"),
                "is missing; without it stripe.api_base means nothing",
            )),
            (Some((key, livemode)), base) => {
                let default = || DEFAULT_BASE.parse::<Url>();
                let base = base.map_or_else(default, Ok).map_err(|_| {
                    // A constant that is an address.
                    faults.add(area.key("api_base"), "is missing")
                })?;
                Ok(Some(Self {
                    key,
                    livemode,
                    base,
                }))
            }
        }
    }
}

fn read_base(area: &Area<'_>, faults: &mut Faults) -> Checked<Option<Url>> {
    let Some(url) = address::read_url(area, "api_base", faults)? else {
        return Ok(None);
    };
    let rule = if url.query().is_some() {
        "must not have a ?query"
    } else if url.scheme() != "https" && !address::is_loopback(&url) {
        "must begin with https:// unless the host is this machine"
    } else {
        return Ok(Some(url));
    };
    Err(faults.add(area.key("api_base"), rule))
}

fn read_key(
    area: &Area<'_>,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Option<(Secret, bool)>> {
    let key = area.key("api_key");
    let Some(reference) = area.text("api_key", faults)? else {
        return Ok(None);
    };
    let secret = secret::resolve(&key, reference, environment, faults)?;
    let text = secret.expose();
    let mode = PREFIXES
        .into_iter()
        .find(|(prefix, _)| text.starts_with(prefix));
    // It travels in an `Authorization` header.
    let usable = text.len() >= MIN_KEY_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    match mode {
        Some((_, livemode)) if usable => Ok(Some((secret, livemode))),
        Some(_) | None => Err(faults.add(
            key,
            "must lead to a secret or restricted key of one account: sk_test_…, rk_test_…, \
             sk_live_… or rk_live_…",
        )),
    }
}
