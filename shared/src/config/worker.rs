//! `[worker]`: what the process that applies and delivers needs to know.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::address;
use super::area::Area;
use super::catalogue::Catalogue;
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::metadata::MetadataNames;
use super::mongodb::Mongodb;
use super::number::Limits;
use super::raw::Raw;
use super::routing::{self, Routing};
use super::secret::{self, Secret};
use super::sink::{self, Sink};
use super::source::{self, SourcePin};
use super::stripe::StripeApi;

const OPS_BIND: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);
const SECONDS_A_DAY: u64 = 86_400;

/// A token is compared as it is, so its length is all that keeps guessing out.
const MIN_TOKEN_BYTES: usize = 16;

/// Events handled at a time. Each holds a session and, for a moment, a connection; more
/// than this waits for the database, not for us.
const CONCURRENCY: Limits = Limits {
    unit: "",
    min: 1,
    max: 256,
    default: 8,
};

/// How long a claim holds. Half of it is a transaction's deadline: under a second nothing
/// real fits in, and over 120 s that half would pass the 60 s after which the server ends
/// transactions by itself.
const LEASE_MS: Limits = Limits {
    unit: "ms",
    min: 1_000,
    max: 120_000,
    default: 30_000,
};

/// Tries before an event is buried. One is allowed: no retry at all.
const MAX_ATTEMPTS: Limits = Limits {
    unit: "",
    min: 1,
    max: 100,
    default: 5,
};

/// How long a state message waits for its burst to end. Zero sends each change; more than
/// five minutes would be felt as a loss.
const SETTLE_MS: Limits = Limits {
    unit: "ms",
    min: 0,
    max: 300_000,
    default: 2_000,
};

/// How long processed events are kept, which is how long a duplicate is known as one.
/// Stripe can send an event again for 30 days, and 5 more are for clocks and outages. Ten
/// years is for ever.
const RETENTION_DAYS: Limits = Limits {
    unit: "days",
    min: 35,
    max: 3_650,
    default: 90,
};

/// All that the worker is told.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    /// Where the ledger is.
    pub mongodb: Mongodb,
    /// Where operators connect.
    pub ops_bind: SocketAddr,
    /// What operators prove themselves with. Always there when `ops_bind` is not loopback.
    pub ops_token: Option<Secret>,
    /// How many events are handled at a time.
    pub concurrency: usize,
    /// How long a claim holds.
    pub lease: Duration,
    /// Tries before an event is buried.
    pub max_attempts: u32,
    /// How long a state message waits for its burst to end.
    pub settle: Duration,
    /// How long processed events and sent messages are kept.
    pub retention: Duration,
    /// How Stripe's API is asked; without it, never.
    pub stripe: Option<StripeApi>,
    /// What credit packs are worth.
    pub catalogue: Catalogue,
    /// What the product calls its metadata keys.
    pub metadata: MetadataNames,
    /// Where effects can go. Never empty.
    pub sinks: Vec<Sink>,
    /// Which effects go where.
    pub routing: Routing,
    /// What sources are, without their secrets.
    pub sources: Vec<SourcePin>,
    /// What is allowed but probably not meant; to be logged at boot.
    pub warnings: Vec<String>,
}

impl WorkerSettings {
    /// Reads and checks everything, secrets of sinks included, those of sources not.
    ///
    /// # Errors
    /// Every fault at once.
    pub fn read(raw: &Raw, environment: &Environment) -> Result<Self, Faults> {
        let mut faults = raw.faults();
        let read = Self::check(raw, environment, &mut faults);
        faults.or(read)
    }

    fn check(raw: &Raw, environment: &Environment, faults: &mut Faults) -> Checked<Self> {
        let mongodb = Mongodb::read(raw, environment, faults);
        let area = Area::of(raw, "worker");
        let ops_bind = address::read_bind(&area, "ops_bind", OPS_BIND, faults);
        let ops_token = read_token(&area, ops_bind, environment, faults);
        let concurrency = area.size("concurrency", &CONCURRENCY, faults);
        let lease = area.millis("lease_ms", &LEASE_MS, faults);
        let max_attempts = area.integer("max_attempts", &MAX_ATTEMPTS, faults);
        let settle = area.millis("settle_ms", &SETTLE_MS, faults);
        let retention = area.seconds("retention_days", SECONDS_A_DAY, &RETENTION_DAYS, faults);
        let stripe = StripeApi::read(raw, environment, faults);
        let catalogue = Catalogue::read(raw, faults);
        let metadata = MetadataNames::read(raw, faults);
        let sinks = sink::read_all(raw, environment, faults);
        let delivery = routing::read(raw, sinks, faults);
        let sources = source::read_pins(raw, faults);
        let delivery = delivery?;
        Ok(Self {
            mongodb: mongodb?,
            ops_bind: ops_bind?,
            ops_token: ops_token?,
            concurrency: concurrency?,
            lease: lease?,
            max_attempts: u32::try_from(max_attempts?).unwrap_or(u32::MAX),
            settle: settle?,
            retention: retention?,
            stripe: stripe?,
            catalogue: catalogue?,
            metadata: metadata?,
            sinks: delivery.sinks,
            routing: delivery.routing,
            sources: sources?,
            warnings: delivery.warnings,
        })
    }
}

fn read_token(
    area: &Area<'_>,
    ops_bind: Checked<SocketAddr>,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Option<Secret>> {
    let key = area.key("ops_token");
    let Some(reference) = area.text("ops_token", faults)? else {
        return match ops_bind {
            Ok(address) if !address.ip().is_loopback() => Err(faults.add(
                key,
                "is missing; needed when worker.ops_bind is not loopback",
            )),
            Ok(_) | Err(_) => Ok(None),
        };
    };
    let token = secret::resolve(&key, reference, environment, faults)?;
    let text = token.expose();
    // It travels in an `Authorization` header.
    if text.len() >= MIN_TOKEN_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Some(token));
    }
    let rule = format!("must lead to {MIN_TOKEN_BYTES} or more visible ASCII characters");
    Err(faults.add(key, rule))
}
