//! `[[source]]`: who may deliver, and how that is proven.

use std::time::Duration;

use url::Url;

use super::area::{Area, unique};
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::number::Limits;
use super::provider::Provider;
use super::raw::Raw;
use super::{address, secret};

/// The shortest secret that is not worth guessing. Stripe's have 38.
const MIN_SECRET_BYTES: usize = 16;

const DEFAULT_SCOPE: &str = "default";
/// A scope stands in a unique index beside every event id.
const MAX_SCOPE: usize = 64;

/// How far a signature's time may be from ours. Zero would switch the check off in
/// Stripe's own libraries, so it is refused; more than an hour is a replay window that
/// nothing honest needs.
const TOLERANCE_S: Limits = Limits {
    unit: "s",
    min: 1,
    max: 3_600,
    default: 300,
};

/// A webhook of less than a kibibyte's limit is a mistake; 8 MiB stays well under the
/// 16 MiB that a document may have.
pub(super) const MAX_BODY_BYTES: Limits = Limits {
    unit: "bytes",
    min: 1_024,
    max: 8 * 1_024 * 1_024,
    default: 1_024 * 1_024,
};

/// The server's own time-out is a second less, and needs half a second to be of use. No
/// provider waits for a minute.
pub(super) const COMMIT_TIMEOUT_MS: Limits = Limits {
    unit: "ms",
    min: 1_500,
    max: 60_000,
    default: 10_000,
};

/// One address that a provider posts to.
#[derive(Debug, Clone)]
pub struct Source {
    /// The last part of its path, `/webhooks/{name}`.
    pub name: String,
    /// Who signs.
    pub provider: Provider,
    /// The secrets that may sign; several while one is rolled. Never empty.
    pub secrets: Vec<super::Secret>,
    /// How far the signature's time may be from ours, either way.
    pub tolerance: Duration,
    /// Whether live events are expected, or test ones.
    pub livemode: bool,
    /// Sources of one scope deduplicate each other.
    pub scope: String,
    /// How long a delivery may wait for its commit.
    pub commit_timeout: Duration,
    /// The longest body that is read.
    pub max_body_bytes: usize,
    /// The address as the provider knows it, for those that sign it.
    pub public_url: Option<Url>,
}

/// What the worker needs to know of a source: nothing secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePin {
    /// The source's name, as events carry it.
    pub name: String,
    /// Who signs.
    pub provider: Provider,
    /// Whether live events are expected, or test ones.
    pub livemode: bool,
}

/// What sources inherit from `[ingest]`.
pub(super) struct Inherited {
    pub(super) max_body_bytes: usize,
    pub(super) commit_timeout: Duration,
}

/// Every source with its secrets; at least one.
pub(super) fn read_all(
    raw: &Raw,
    environment: &Environment,
    inherited: &Inherited,
    faults: &mut Faults,
) -> Checked<Vec<Source>> {
    let areas = Area::each(raw, "source");
    if areas.is_empty() {
        return Err(faults.add("source", "needs at least one [[source]]"));
    }
    let unique = unique_names(&areas, faults);
    let read: Vec<_> = areas
        .iter()
        .map(|area| read_one(area, environment, inherited, faults))
        .collect();
    unique?;
    read.into_iter().collect()
}

/// Every source without its secrets, which this process has no business to know.
pub(super) fn read_pins(raw: &Raw, faults: &mut Faults) -> Checked<Vec<SourcePin>> {
    let areas = Area::each(raw, "source");
    let unique = unique_names(&areas, faults);
    let read: Vec<_> = areas.iter().map(|area| read_pin(area, faults)).collect();
    unique?;
    read.into_iter().collect()
}

fn unique_names<'a>(areas: &[Area<'a>], faults: &mut Faults) -> Checked<()> {
    // Faults of the names themselves are noted by who reads them.
    let mut unheard = Faults::default();
    let name = |area: &Area<'a>| {
        Some((
            area.key("name"),
            area.required_text("name", &mut unheard).ok()?,
        ))
    };
    unique(areas.iter().filter_map(name).collect::<Vec<_>>(), faults)
}

fn read_pin(area: &Area<'_>, faults: &mut Faults) -> Checked<SourcePin> {
    let name = area.name("name", faults);
    let provider = read_provider(area, faults);
    let livemode = area.boolean("livemode", faults);
    let provider = provider?;
    let livemode = match provider {
        // Without it a secret of test mode could sign live events.
        Provider::Stripe => livemode?.ok_or_else(|| {
            faults.add(
                area.key("livemode"),
                "is missing; a stripe source must say true or false",
            )
        }),
    };
    Ok(SourcePin {
        name: name?,
        provider,
        livemode: livemode?,
    })
}

fn read_one(
    area: &Area<'_>,
    environment: &Environment,
    inherited: &Inherited,
    faults: &mut Faults,
) -> Checked<Source> {
    let pin = read_pin(area, faults);
    let secrets = area.texts("secrets", faults);
    let secrets = secrets.and_then(|references| {
        secret::resolve_all(&area.key("secrets"), references, environment, faults)
    });
    let secrets = secrets.and_then(|secrets| long_enough(secrets, area, faults));
    let tolerance = area.seconds("tolerance_s", 1, &TOLERANCE_S, faults);
    let scope = read_scope(area, faults);
    let commit_timeout = if area.has("commit_timeout_ms") {
        area.millis("commit_timeout_ms", &COMMIT_TIMEOUT_MS, faults)
    } else {
        Ok(inherited.commit_timeout)
    };
    let max_body_bytes = if area.has("max_body_bytes") {
        area.size("max_body_bytes", &MAX_BODY_BYTES, faults)
    } else {
        Ok(inherited.max_body_bytes)
    };
    let public_url = address::read_url(area, "public_url", faults);
    let pin = pin?;
    Ok(Source {
        name: pin.name,
        provider: pin.provider,
        livemode: pin.livemode,
        secrets: secrets?,
        tolerance: tolerance?,
        scope: scope?,
        commit_timeout: commit_timeout?,
        max_body_bytes: max_body_bytes?,
        public_url: public_url?,
    })
}

/// Refuses what can be guessed.
fn long_enough(
    secrets: Vec<super::Secret>,
    area: &Area<'_>,
    faults: &mut Faults,
) -> Checked<Vec<super::Secret>> {
    let short = secrets
        .iter()
        .position(|secret| secret.expose().len() < MIN_SECRET_BYTES);
    match short {
        None => Ok(secrets),
        Some(index) => {
            let key = format!("{}[{index}]", area.key("secrets"));
            let rule = format!(
                "leads to a secret of fewer than {MIN_SECRET_BYTES} bytes, which can be guessed"
            );
            Err(faults.add(key, rule))
        }
    }
}

fn read_provider(area: &Area<'_>, faults: &mut Faults) -> Checked<Provider> {
    let name = area.required_text("provider", faults)?;
    Provider::parse(name).map_err(|error| faults.add(area.key("provider"), error.to_string()))
}

fn read_scope(area: &Area<'_>, faults: &mut Faults) -> Checked<String> {
    let scope = area.text("scope", faults)?.unwrap_or(DEFAULT_SCOPE);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if scope.len() <= MAX_SCOPE && scope.bytes().all(allowed) {
        return Ok(scope.to_owned());
    }
    let rule = format!("must be 1 to {MAX_SCOPE} of letters, digits, _ - and .");
    Err(faults.add(area.key("scope"), rule))
}
