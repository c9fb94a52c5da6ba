//! Dead letters, made the way the worker makes them: by its own transitions.

use std::time::Duration;

use bson::{DateTime, Document, doc};
use hookledger_shared::clock;
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::model::lease::Transition;
use hookledger_shared::model::outbox::{CausedBy, OnceMessage};
use hookledger_shared::store::events::{ClaimTerms, Ending, Failure};
use hookledger_shared::store::outbox::{MessageEnding, SentAs};
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use hookledger_shared::store::{Insertion, Stores};
use mongodb::ClientSession;
use mongodb::error::Error;

use crate::bed::Bed;

/// What no list and no `show` prints by itself.
pub(crate) const PERSONAL: &str = "jenny.rosen@example.com";
pub(crate) const KEY: &str = "self:test:receipt:in_1";
const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn body() -> String {
    format!(r#"{{"id":"evt","customer_email":"{PERSONAL}"}}"#)
}

/// An event that was received `ago`.
pub(crate) fn event(id: &str, scope: &str, event_type: &str, ago: Duration) -> NewEvent {
    let ago = i64::try_from(ago.as_millis()).unwrap();
    NewEvent {
        event_id: id.to_owned(),
        provider: "stripe",
        scope: scope.to_owned(),
        source: format!("from_{scope}"),
        secret_id: "0".to_owned(),
        event_type: Some(event_type.to_owned()),
        created: Some(1_767_225_600),
        livemode: Some(false),
        account: None,
        api_version: None,
        object_id: Some("sub_1".to_owned()),
        customer_id: None,
        content_type: None,
        body: body().into(),
        problem: None,
        received_at: DateTime::from_millis(clock::now().timestamp_millis() - ago),
    }
}

fn failure(kind: &str) -> Failure {
    Failure {
        kind: kind.to_owned(),
        message: format!("it met a {kind}"),
    }
}

fn terms() -> ClaimTerms {
    ClaimTerms {
        owner: "letters".into(),
        lease: Duration::from_secs(30),
    }
}

impl Bed {
    pub(crate) async fn insert(&self, events: &[NewEvent]) {
        let rows: Vec<_> = events.iter().map(NewEvent::row).collect();
        let inserted = self.stores.events.insert_many(&rows, LIMIT).await.unwrap();
        assert!(inserted.iter().all(|one| *one == Insertion::Stored));
    }

    /// An event that is dead, of type `customer.updated`.
    pub(crate) async fn dead_event(&self, id: &str, scope: &str, kind: &str) {
        let event = event(id, scope, "customer.updated", Duration::from_secs(1));
        self.insert(&[event]).await;
        let mut slot = Slot::open(&self.stores).await.unwrap();
        let events = &self.stores.events;
        let claimed = events.claim(&mut slot, &terms()).await.unwrap().unwrap();
        let bury = Ending::Bury {
            failure: failure(kind),
            fault: true,
        };
        let buried = events.end(&claimed.claim().unwrap(), &bury).await;
        assert_eq!(buried.unwrap(), Transition::Done);
    }

    /// A message that is pending.
    pub(crate) async fn message(&self, key: &str, destination: &str) {
        let message = OnceMessage {
            key: key.to_owned(),
            topic: "email.receipt".to_owned(),
            destination: destination.to_owned(),
            payload: doc! { "email": PERSONAL },
            caused_by: CausedBy {
                provider: "stripe".to_owned(),
                scope: "default".to_owned(),
                event_id: "evt_1".to_owned(),
            },
        };
        let mut slot = Slot::open(&self.stores).await.unwrap();
        let mut enqueue = Enqueue(&self.stores, message);
        let ended = slot.in_transaction(LIMIT, &mut enqueue).await.unwrap();
        assert!(ended.committed);
    }

    /// A message that is dead.
    pub(crate) async fn dead_message(&self, key: &str, destination: &str, kind: &str) {
        self.message(key, destination).await;
        let outbox = &self.stores.outbox;
        let claimed = outbox.claim(destination, &terms()).await.unwrap().unwrap();
        let bury = MessageEnding::Bury {
            sent: SentAs { version: None },
            settle: Duration::ZERO,
            failure: failure(kind),
        };
        let buried = outbox.end(&claimed.claim().unwrap(), &bury).await;
        assert_eq!(buried.unwrap(), Transition::Done);
    }

    /// Raw documents, in the order they were written.
    pub(crate) async fn rows(&self, collection: &str, filter: Document) -> Vec<Document> {
        use futures::TryStreamExt;
        let rows = self.stores.database().collection::<Document>(collection);
        let found = rows.find(filter).sort(doc! { "_id": 1 }).await.unwrap();
        found.try_collect().await.unwrap()
    }

    pub(crate) async fn count(&self, collection: &str, filter: Document) -> usize {
        self.rows(collection, filter).await.len()
    }
}

struct Enqueue<'a>(&'a Stores, OnceMessage);

impl Work for Enqueue<'_> {
    type Output = ();

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<()>, Error> {
        self.0.outbox.enqueue_once(session, &self.1).await?;
        Ok(Verdict::Commit(()))
    }
}
