//! The HTTP surface, all of it on one screen:
//!
//! | port | path | |
//! |---|---|---|
//! | webhooks | `POST /webhooks/{source}` | [`webhook`]: one delivery; its bytes come in by [`body`]; an answer that is out before that is `unread` |
//! | ops | `GET /livez`, `/readyz`, `/metrics` | [`health`] |
//!
//! Everything else is 404, or 405 where the path is right.

pub mod body;
pub mod health;
mod unread;
pub mod webhook;

use actix_web::web::{self, ServiceConfig};

/// The port that providers post to.
pub fn webhooks(routes: &mut ServiceConfig) {
    let deliveries = web::resource("/webhooks/{source}")
        .route(web::post().to(webhook::deliver))
        .default_service(web::to(webhook::wrong_method));
    routes
        .service(deliveries)
        .default_service(web::to(webhook::not_found));
}

/// The port for health and metrics.
pub fn ops(routes: &mut ServiceConfig) {
    routes
        .route("/livez", web::get().to(health::livez))
        .route("/readyz", web::get().to(health::readyz))
        .route("/metrics", web::get().to(health::metrics));
}
