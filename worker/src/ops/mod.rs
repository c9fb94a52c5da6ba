//! Operators' HTTP on a port of its own. Reads only; everything about money is written by
//! commands, which are audited.

pub mod dead_letters;
mod guard;
mod health;
pub mod lag;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::error::InternalError;
use actix_web::middleware::from_fn;
use actix_web::{App, HttpResponse, HttpServer, web};
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::task;
use serde_json::json;

use crate::app::Context;
use health::Readiness;

/// How long the head of a request may take.
const HEAD_DEADLINE: Duration = Duration::from_secs(5);
/// Connections: operators and a scraper.
const MAX_CONNECTIONS: usize = 64;
/// How long answers may take when the process stops.
const GRACE_S: u64 = 2;

/// A server that serves.
#[derive(Debug)]
pub struct Running {
    /// Where.
    pub addr: SocketAddr,
}

/// What handlers share.
struct Ops {
    context: Context,
    readiness: Readiness,
}

/// Serves until `shutdown` is requested.
///
/// # Errors
/// When the port can't be had.
pub async fn serve(context: Context, shutdown: Shutdown) -> io::Result<Running> {
    let bind = context.settings.ops_bind;
    let readiness = Readiness::new(shutdown.clone());
    let ops = web::Data::from(Arc::new(Ops { context, readiness }));
    let app = move || App::new().app_data(ops.clone()).configure(routes);
    let server = HttpServer::new(app)
        .workers(1)
        .client_request_timeout(HEAD_DEADLINE)
        .max_connections(MAX_CONNECTIONS)
        .shutdown_timeout(GRACE_S)
        .disable_signals()
        .bind(bind)
        .map_err(|error| io::Error::new(error.kind(), format!("{bind}: {error}")))?;
    let addr = server.addrs().first().copied().unwrap_or(bind);
    let server = server.run();
    let handle = server.handle();
    task::spawn("ops server", server);
    task::spawn("ops stop", async move {
        shutdown.requested().await;
        handle.stop(true).await;
    });
    Ok(Running { addr })
}

/// The whole table.
fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/livez", web::get().to(health::livez))
        .route("/readyz", web::get().to(health::readyz))
        .service(
            web::scope("")
                .wrap(from_fn(guard::check))
                .app_data(web::QueryConfig::default().error_handler(|_, _| bad_query()))
                .route("/metrics", web::get().to(health::metrics))
                .route("/api/lag", web::get().to(lag::show))
                .route("/api/dead-letters", web::get().to(dead_letters::list))
                .default_service(web::to(nothing_here)),
        );
}

/// The parser's own words stay out of the answer: a code is what programs can act on.
fn bad_query() -> actix_web::Error {
    let response = HttpResponse::BadRequest().json(json!({ "error": "bad_query" }));
    InternalError::from_response("bad query", response).into()
}

async fn nothing_here() -> HttpResponse {
    HttpResponse::NotFound().json(json!({ "error": "not_found" }))
}

/// The database did not answer; why is for the log, not for the network.
fn unavailable(error: &hookledger_shared::store::StoreError) -> HttpResponse {
    tracing::warn!(%error, "an operator's question could not be answered");
    HttpResponse::ServiceUnavailable().json(json!({ "error": "database_unavailable" }))
}
