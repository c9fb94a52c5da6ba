//! The sink for development: a line a message. Never the payload, which may hold what must
//! not be in logs.

use hookledger_shared::model::outbox::OutboxMessage;

use super::Outcome;

/// Writes the line. That always works.
pub(super) fn deliver(message: &OutboxMessage) -> Outcome {
    tracing::info!(
        key = %message.key,
        topic = %message.topic,
        destination = %message.destination,
        version = message.version,
        "an effect, delivered to the log"
    );
    Outcome::Delivered {
        note: "delivered: written to the log".to_owned(),
    }
}
