//! `GET /api/dead-letters`: what was given up, the newest first, without bodies.

use actix_web::{HttpResponse, web};
use hookledger_shared::store::dead::DeadFilter;
use hookledger_shared::store::{StoreError, Stores};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ops, unavailable};

/// How many of each are listed at most.
const MAX_PAGE: i64 = 1_000;
/// How many are listed when nothing is said.
const PAGE: i64 = 100;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Event,
    Message,
}

pub(super) async fn list(ops: web::Data<Ops>, query: web::Query<Query>) -> HttpResponse {
    match read(&ops.context.stores, query.into_inner()).await {
        Ok(listed) => HttpResponse::Ok().json(listed),
        Err(error) => unavailable(&error),
    }
}

async fn read(stores: &Stores, query: Query) -> Result<Value, StoreError> {
    let page = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let filter = DeadFilter {
        kind: query.kind,
        about: query.about,
        place: query.place,
    };
    let events = if query.what == Some(What::Message) {
        Vec::new()
    } else {
        stores.events.dead(&filter, page).await?
    };
    let messages = if query.what == Some(What::Event) {
        Vec::new()
    } else {
        stores.outbox.dead(&filter, page).await?
    };
    Ok(json!({ "events": events, "messages": messages }))
}
