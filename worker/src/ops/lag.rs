//! How far behind we are. Read from the heads of small indexes and from counts up to a cap,
//! never by counting the ledger. The command, the ops port and the gauges share it.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use hookledger_shared::model::event::Status;
use hookledger_shared::model::outbox::MessageStatus;
use hookledger_shared::store::gauge::Head;
use hookledger_shared::store::{StoreError, Stores};
use serde::{Serialize, Serializer};

use super::{Ops, unavailable};

/// Counts stop here.
pub const CAP: u64 = 10_000;

/// How far behind we are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lag {
    /// The ledger.
    pub events: EventLag,
    /// The outbox.
    pub messages: MessageLag,
}

/// The ledger's share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventLag {
    /// How long the first event that is due has been waiting, in seconds; 0 when none is.
    #[serde(rename = "lagSeconds", serialize_with = "seconds")]
    pub lag: Duration,
    /// Waiting, due or not.
    pub received: Count,
    /// Claimed.
    pub processing: Count,
    /// Given up.
    pub dead: Count,
}

/// The outbox's share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageLag {
    /// Each destination's.
    pub destinations: Vec<DestinationLag>,
    /// Waiting, due or not.
    pub pending: Count,
    /// Being sent.
    pub sending: Count,
    /// Given up.
    pub dead: Count,
}

/// One destination's share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DestinationLag {
    /// The sink's name.
    pub destination: String,
    /// How long its first message that is due has been waiting, in seconds.
    #[serde(rename = "lagSeconds", serialize_with = "seconds")]
    pub lag: Duration,
}

/// A count up to [`CAP`]: `"10000+"` from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.0 >= CAP { "+" } else { "" };
        f.pad(&format!("{}{more}", self.0))
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 >= CAP {
            return to.collect_str(self);
        }
        to.serialize_u64(self.0)
    }
}

fn seconds<S: Serializer>(lag: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(lag.as_secs_f64())
}

/// Reads it.
///
/// # Errors
/// When the database does not answer.
pub async fn read(stores: &Stores, destinations: &[String]) -> Result<Lag, StoreError> {
    let mut by_destination = Vec::with_capacity(destinations.len());
    for destination in destinations {
        by_destination.push(DestinationLag {
            destination: destination.clone(),
            lag: waiting(stores.outbox.head(destination).await?),
        });
    }
    Ok(Lag {
        events: EventLag {
            lag: waiting(stores.events.head().await?),
            received: events(stores, Status::Received).await?,
            processing: events(stores, Status::Processing).await?,
            dead: events(stores, Status::Dead).await?,
        },
        messages: MessageLag {
            destinations: by_destination,
            pending: messages(stores, MessageStatus::Pending).await?,
            sending: messages(stores, MessageStatus::Sending).await?,
            dead: messages(stores, MessageStatus::Dead).await?,
        },
    })
}

fn waiting(head: Option<Head>) -> Duration {
    head.map_or(Duration::ZERO, |head| head.waiting)
}

async fn events(stores: &Stores, status: Status) -> Result<Count, StoreError> {
    let count = stores.events.count(status, CAP).await?;
    Ok(Count(count.unwrap_or_default()))
}

async fn messages(stores: &Stores, status: MessageStatus) -> Result<Count, StoreError> {
    let count = stores.outbox.count(status, CAP).await?;
    Ok(Count(count.unwrap_or_default()))
}

/// `GET /api/lag`
pub(super) async fn show(ops: web::Data<Ops>) -> HttpResponse {
    let destinations = ops.context.destinations();
    match read(&ops.context.stores, &destinations).await {
        Ok(lag) => HttpResponse::Ok().json(lag),
        Err(error) => unavailable(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_says_when_there_are_more() {
        let text = |count| serde_json::to_string(&Count(count)).unwrap();
        assert_eq!(
            [text(0), text(9_999), text(CAP)],
            ["0", "9999", "\"10000+\""]
        );
    }
}
