//! `[ingest]`: what the process that receives needs to know.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::address;
use super::area::Area;
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::mongodb::Mongodb;
use super::raw::Raw;
use super::source::{self, COMMIT_TIMEOUT_MS, Inherited, MAX_BODY_BYTES, Source};

const BIND: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
const OPS_BIND: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);

/// All that ingest is told.
#[derive(Debug, Clone)]
pub struct IngestSettings {
    /// Where the ledger is.
    pub mongodb: Mongodb,
    /// Where providers post to.
    pub bind: SocketAddr,
    /// Where health and metrics are.
    pub ops_bind: SocketAddr,
    /// The longest body that is read, where a source doesn't say.
    pub max_body_bytes: usize,
    /// How long a delivery may wait for its commit, where a source doesn't say.
    pub commit_timeout: Duration,
    /// Who may deliver. Never empty.
    pub sources: Vec<Source>,
}

impl IngestSettings {
    /// Reads and checks everything, secrets included.
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
        let area = Area::of(raw, "ingest");
        let bind = address::read_bind(&area, "bind", BIND, faults);
        let ops_bind = address::read_bind(&area, "ops_bind", OPS_BIND, faults);
        let max_body_bytes = area.size("max_body_bytes", &MAX_BODY_BYTES, faults);
        let commit_timeout = area.millis("commit_timeout_ms", &COMMIT_TIMEOUT_MS, faults);
        if let (Ok(bind), Ok(ops_bind)) = (bind, ops_bind)
            && bind == ops_bind
            && bind.port() != 0
        {
            faults.add(area.key("ops_bind"), "must differ from ingest.bind");
        }
        // Where the inherited value is wrong that is noted already; sources are still read
        // for their own faults, with a stand-in that is never used.
        let inherited = Inherited {
            max_body_bytes: max_body_bytes.unwrap_or_default(),
            commit_timeout: commit_timeout.unwrap_or_default(),
        };
        let sources = source::read_all(raw, environment, &inherited, faults);
        Ok(Self {
            mongodb: mongodb?,
            bind: bind?,
            ops_bind: ops_bind?,
            max_body_bytes: max_body_bytes?,
            commit_timeout: commit_timeout?,
            sources: sources?,
        })
    }
}
