//! The rules of the queue and of who writes. What the real database makes of it is in the
//! integration tests.

mod queue;
mod writing;

use std::time::Duration;

use bson::DateTime;
use bytes::Bytes;
use hookledger_shared::model::event::NewEvent;

const LIMIT: Duration = Duration::from_secs(30);

fn event(id: &str) -> NewEvent {
    NewEvent {
        event_id: id.to_owned(),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: None,
        created: None,
        livemode: None,
        account: None,
        api_version: None,
        object_id: None,
        customer_id: None,
        content_type: None,
        body: Bytes::new(),
        problem: None,
        received_at: DateTime::MIN,
    }
}

fn large(id: &str, bytes: usize) -> NewEvent {
    NewEvent {
        body: Bytes::from(vec![b' '; bytes]),
        ..event(id)
    }
}
