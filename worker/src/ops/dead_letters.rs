//! Dead letters, the newest first, without bodies: `GET /api/dead-letters` and the command's
//! `list` read the same.

use actix_web::{HttpResponse, web};
use hookledger_shared::store::dead::DeadFilter;
use hookledger_shared::store::events::DeadRow;
use hookledger_shared::store::outbox::DeadMessage;
use hookledger_shared::store::{StoreError, Stores};
use serde::{Deserialize, Serialize};

use super::{Ops, unavailable};

/// How many of each are listed at most.
pub const MAX_PAGE: i64 = 1_000;
/// How many are listed when nothing is said.
pub const PAGE: i64 = 100;

/// Which of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Of the ledger.
    Event,
    /// Of the outbox.
    Message,
}

/// Dead letters of both kinds.
#[derive(Debug, Default, Serialize)]
pub struct DeadLetters {
    /// Of the ledger.
    pub events: Vec<DeadRow>,
    /// Of the outbox.
    pub messages: Vec<DeadMessage>,
}

/// Reads at most `page` of each kind, or of the one kind that is wanted.
///
/// # Errors
/// When the database does not answer.
pub async fn read(
    stores: &Stores,
    what: Option<What>,
    filter: &DeadFilter,
    page: i64,
) -> Result<DeadLetters, StoreError> {
    let mut read = DeadLetters::default();
    if what != Some(What::Message) {
        read.events = stores.events.dead(filter, page).await?;
    }
    if what != Some(What::Event) {
        read.messages = stores.outbox.dead(filter, page).await?;
    }
    Ok(read)
}

/// What to list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    what: Option<What>,
    kind: Option<String>,
    about: Option<String>,
    place: Option<String>,
    limit: Option<i64>,
}

pub(super) async fn list(ops: web::Data<Ops>, query: web::Query<Query>) -> HttpResponse {
    let query = query.into_inner();
    let page = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let filter = DeadFilter {
        kind: query.kind,
        about: query.about,
        place: query.place,
    };
    match read(&ops.context.stores, query.what, &filter, page).await {
        Ok(listed) => HttpResponse::Ok().json(listed),
        Err(error) => unavailable(&error),
    }
}
