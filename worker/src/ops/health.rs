//! What the orchestrator and the scraper ask.

use std::time::{Duration, Instant};

use actix_web::{HttpResponse, web};
use hookledger_shared::shutdown::Shutdown;
use hookledger_shared::store::Stores;
use hookledger_shared::telemetry::metrics::CONTENT_TYPE;
use tokio::sync::Mutex;

use super::Ops;

/// How long `/readyz` tries to write. Orchestrators give a probe a few seconds at most.
const READY_LIMIT: Duration = Duration::from_secs(2);
/// How long an answer stands: probes must not become load.
const STANDS: Duration = Duration::from_secs(1);

/// Whether a majority could be written, asked once at a time and remembered for a moment.
pub(super) struct Readiness {
    shutdown: Shutdown,
    last: Mutex<Option<(Instant, Option<&'static str>)>>,
}

impl Readiness {
    pub(super) fn new(shutdown: Shutdown) -> Self {
        Self {
            shutdown,
            last: Mutex::new(None),
        }
    }

    /// Why not, if not.
    async fn why_not(&self, stores: &Stores) -> Option<&'static str> {
        if self.shutdown.is_requested() {
            return Some("stopping\n");
        }
        let mut last = self.last.lock().await;
        if let Some((asked, answer)) = *last
            && asked.elapsed() < STANDS
        {
            return answer;
        }
        let answer = match stores.writable(READY_LIMIT).await {
            Ok(()) => None,
            Err(error) => {
                tracing::debug!(%error, "not ready");
                Some("no majority can be written\n")
            }
        };
        *last = Some((Instant::now(), answer));
        answer
    }
}

/// Whether the process is alive; of the database it says nothing, since restarting us would
/// not mend that.
pub(super) async fn livez() -> HttpResponse {
    HttpResponse::Ok().body("alive\n")
}

/// Whether work could be done now.
pub(super) async fn readyz(ops: web::Data<Ops>) -> HttpResponse {
    match ops.readiness.why_not(&ops.context.stores).await {
        None => HttpResponse::Ok().body("ready\n"),
        Some(why) => HttpResponse::ServiceUnavailable().body(why),
    }
}

/// Everything that is counted and measured.
pub(super) async fn metrics(ops: web::Data<Ops>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(CONTENT_TYPE)
        .body(ops.context.metrics.encode())
}
