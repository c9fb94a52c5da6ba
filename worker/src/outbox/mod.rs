//! What one message goes through: claimed, delivered by its sink, finished by its epoch.
//!
//! Reading order: this file (the walk), [`outcome`] (the rule, pure), `held` (a message in
//! hand: kept, sent, finished), [`sink`] (where messages go).
//!
//! Not here: when to look (`service::deliverer`), and what writes messages (`event`).

mod deliverer;
mod held;
pub mod outcome;
pub mod sink;

use hookledger_shared::store::StoreError;

pub use deliverer::{Deliverer, DelivererError};

use crate::service::Step;
use held::Held;

/// Delivers the message of `destination` that has been due the longest. Messages for a
/// destination that is not configured are left as they are.
///
/// # Errors
/// When the database can't be reached. A message in hand then stays leased: the rescue
/// brings it back, and it is sent again under the same key.
pub async fn deliver_next(deliverer: &Deliverer, destination: &str) -> Result<Step, StoreError> {
    let Some(sink) = deliverer.sinks.get(destination) else {
        return Ok(Step::Idle);
    };
    let outbox = &deliverer.stores.outbox;
    let Some(message) = outbox.claim(destination, &deliverer.terms).await? else {
        return Ok(Step::Idle);
    };
    let held = Held::new(deliverer, message)?;
    match held.send(sink).await {
        Some(outcome) => held.finish(outcome).await?,
        None => held.lost(),
    }
    Ok(Step::Worked)
}
