//! A database of one's own, and events taken through load, decide and apply in it.

use std::sync::Mutex;
use std::time::Duration;

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use futures::TryStreamExt;
use futures::future::join_all;
use hookledger_dev::mongo::shared;
use hookledger_shared::config::{Mongodb, Routing};
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::event::{Body, LedgerEvent, Status};
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use hookledger_shared::store::{ConnectOptions, Stores};
use mongodb::ClientSession;
use mongodb::error::Error;
use serde::de::DeserializeOwned;

use super::super::{apply, load};
use crate::handler::tests::story::Event;
use crate::handler::tests::world::World;
use crate::handler::{Decision, Facts, Input, Rules};

pub(super) const LIMIT: Duration = Duration::from_secs(30);

pub(super) async fn stores() -> Stores {
    let mongodb = Mongodb {
        uri: shared::uri().await.unwrap(),
        database: format!("domain_{}", ObjectId::new()),
    };
    let options = ConnectOptions::named("domain-test");
    let stores = Stores::connect(&mongodb, &options).await.unwrap();
    stores.preflight(&Stores::wanted()).await.unwrap();
    stores
}

/// Takes the deliveries from the first on, `workers` at once; one that must wait goes to
/// the end.
pub(super) async fn deliver(stores: &Stores, deliveries: &[&Event], workers: usize) {
    let queue = Mutex::new(deliveries.iter().rev().copied().collect::<Vec<_>>());
    let next = || queue.lock().unwrap().pop();
    let worker = async || {
        let mut slot = Slot::open(stores).await.unwrap();
        while let Some(event) = next() {
            if !take(stores, &mut slot, event).await {
                queue.lock().unwrap().insert(0, event);
            }
        }
    };
    join_all((0..workers).map(|_| worker())).await;
}

/// Whether the event was judged; otherwise it waits for something.
async fn take(stores: &Stores, slot: &mut Slot, event: &Event) -> bool {
    let rules = World::rules();
    let event = ledger(event);
    let input = Input::read(&event, &rules).unwrap();
    let mut work = Taking {
        stores,
        event: &event,
        input: &input,
        rules: &rules,
    };
    slot.in_transaction(LIMIT, &mut work).await.unwrap().value
}

/// One event on its way through a transaction.
pub(super) struct Taking<'a> {
    pub(super) stores: &'a Stores,
    pub(super) event: &'a LedgerEvent,
    pub(super) input: &'a Input,
    pub(super) rules: &'a Rules,
}

impl Work for Taking<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let facts = load::load(self.stores, session, self.input).await?;
        self.write(session, &facts).await
    }
}

impl Taking<'_> {
    /// Decides on what was read, and writes that.
    pub(super) async fn write(
        &self,
        session: &mut ClientSession,
        facts: &Facts,
    ) -> Result<Verdict<bool>, Error> {
        let now = DateTime::from_millis(1_000_000);
        let changes = match self.input.decide(facts, self.rules, now) {
            Decision::Apply(changes) | Decision::Stale(changes) => changes,
            Decision::Defer { .. } => return Ok(Verdict::Abort(false)),
            Decision::Reject(rejection) => {
                rejection.record.map(|record| *record).unwrap_or_default()
            }
        };
        let routing = Routing::everything_to(["log"]);
        let (stores, event) = (self.stores, self.event);
        apply::apply(stores, session, event, changes, &routing, Duration::ZERO).await?;
        Ok(Verdict::Commit(true))
    }
}

pub(super) fn ledger(event: &Event) -> LedgerEvent {
    LedgerEvent {
        id: ObjectId::new(),
        event_id: event.id.clone(),
        provider: "stripe".to_owned(),
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        event_type: Some(event.kind.to_owned()),
        created: None,
        livemode: None,
        account: None,
        api_version: None,
        object_id: None,
        customer_id: None,
        body: Body::Text(event.body.to_string()),
        status: Status::Processing,
        epoch: 1,
        attempts: 0,
        crashes: 0,
        deferrals: 0,
        problem: None,
        received_at: DateTime::from_millis(0),
        lease: None,
        last_error: None,
    }
}

pub(super) async fn all<T: DeserializeOwned + Send + Sync>(stores: &Stores, name: &str) -> Vec<T> {
    let collection = stores.database().collection::<T>(name);
    collection
        .find(doc! {})
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap()
}

/// What is in the database, as the fold would hold it.
pub(super) async fn world(stores: &Stores) -> World {
    let mut world = World::default();
    macro_rules! read {
        ($documents:ident, $type:ty, $name:expr) => {
            for document in all::<$type>(stores, $name).await {
                world.fold.$documents.put(document);
            }
        };
    }
    read!(subscriptions, Subscription, "subscriptions");
    read!(customers, Customer, "customers");
    read!(checkouts, Checkout, "checkouts");
    read!(payments, Payment, "payments");
    read!(purchases, Purchase, "purchases");
    read!(entries, CreditEntry, "creditEntries");
    for row in all::<Document>(stores, "outbox").await {
        let key = row.get_str("key").unwrap().to_owned();
        match row.get_i64("version") {
            Ok(version) => {
                let payload = row.get_document("payload").unwrap().clone();
                world.states.insert(key, (version, payload));
            }
            Err(_) => world.once.push(key),
        }
    }
    world
}
