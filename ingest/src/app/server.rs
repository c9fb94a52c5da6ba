//! The two HTTP servers' settings: what bounds a stranger.

use std::net::SocketAddr;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::Data;
use actix_web::{App, HttpServer};

use super::{Ingest, StartError};
use crate::route;

/// How long the head of a request may take. Afterwards the body has its own deadline.
const HEAD_DEADLINE: Duration = Duration::from_secs(5);
/// How long an idle connection stays open: longer than what the usual proxies keep theirs,
/// so that it is the proxy that closes and no request is lost between the two.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a closing connection may linger.
const CLOSE_DEADLINE: Duration = Duration::from_secs(1);
/// Connections of one HTTP thread. More wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 2_048;
/// The kernel's queue of connections that nobody has taken yet.
const BACKLOG: u32 = 1_024;
/// How long those in flight may take when the process stops: a commit of the default
/// length, its body, and some air; together with what follows under the 30 s after which
/// the usual orchestrators kill.
const GRACE_S: u64 = 24;
/// Connections to the ops port.
const MAX_OPS_CONNECTIONS: usize = 64;

/// A server that has its port, and serves once it is polled.
pub(super) struct Listening {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
}

pub(super) fn webhooks(
    ingest: &Data<Ingest>,
    address: SocketAddr,
) -> Result<Listening, StartError> {
    let data = ingest.clone();
    let app = move || App::new().app_data(data.clone()).configure(route::webhooks);
    let server = HttpServer::new(app)
        .client_request_timeout(HEAD_DEADLINE)
        .client_disconnect_timeout(CLOSE_DEADLINE)
        .keep_alive(KEEP_ALIVE)
        .tcp_nodelay(true)
        .max_connections(MAX_CONNECTIONS)
        .backlog(BACKLOG)
        .shutdown_timeout(GRACE_S)
        .disable_signals();
    let bound = server
        .bind(address)
        .map_err(failed("ingest.bind", address))?;
    Ok(Listening {
        address: first(&bound.addrs(), address),
        server: bound.run(),
    })
}

pub(super) fn ops(ingest: &Data<Ingest>, address: SocketAddr) -> Result<Listening, StartError> {
    let data = ingest.clone();
    let app = move || App::new().app_data(data.clone()).configure(route::ops);
    let server = HttpServer::new(app)
        .workers(1)
        .client_request_timeout(HEAD_DEADLINE)
        .client_disconnect_timeout(CLOSE_DEADLINE)
        .max_connections(MAX_OPS_CONNECTIONS)
        .disable_signals();
    let bound = server
        .bind(address)
        .map_err(failed("ingest.ops_bind", address))?;
    Ok(Listening {
        address: first(&bound.addrs(), address),
        server: bound.run(),
    })
}

fn failed(key: &'static str, address: SocketAddr) -> impl FnOnce(std::io::Error) -> StartError {
    move |source| StartError::Bind {
        key,
        address,
        source,
    }
}

/// The address that was really taken: port 0 asks for any.
fn first(taken: &[SocketAddr], asked: SocketAddr) -> SocketAddr {
    taken.first().copied().unwrap_or(asked)
}
