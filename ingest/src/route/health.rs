//! What the orchestrator and the scraper ask, on the ops port.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hookledger_shared::telemetry::metrics::CONTENT_TYPE;

use crate::app::Ingest;

/// How long `/readyz` tries to write. Orchestrators give a probe a few seconds at most.
const READY_LIMIT: Duration = Duration::from_secs(2);

/// Whether the process is alive; of the database it says nothing, since restarting us would
/// not mend that.
pub async fn livez() -> HttpResponse {
    HttpResponse::Ok().body("alive\n")
}

/// Whether a delivery could be stored now.
pub async fn readyz(ingest: web::Data<Ingest>) -> HttpResponse {
    match not_ready(&ingest).await {
        None => HttpResponse::Ok().body("ready\n"),
        Some(why) => HttpResponse::build(StatusCode::SERVICE_UNAVAILABLE).body(why),
    }
}

async fn not_ready(ingest: &Ingest) -> Option<&'static str> {
    if ingest.shutdown.is_requested() {
        return Some("stopping\n");
    }
    if !ingest.committer.is_open() {
        return Some("the database has not been reached and checked yet\n");
    }
    match ingest.stores.writable(READY_LIMIT).await {
        Ok(()) => None,
        Err(error) => {
            tracing::debug!(%error, "not ready");
            Some("no majority can be written\n")
        }
    }
}

/// Everything that is counted and measured.
pub async fn metrics(ingest: web::Data<Ingest>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(CONTENT_TYPE)
        .body(ingest.metrics.encode())
}
