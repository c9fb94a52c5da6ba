//! What every test here starts from: a database of its own and events in it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bson::oid::ObjectId;
use hookledger_dev::mongo::shared;
use hookledger_shared::clock;
use hookledger_shared::config::Mongodb;
use hookledger_shared::model::event::{LedgerEvent, NewEvent};
use hookledger_shared::model::lease::Claim;
use hookledger_shared::store::events::ClaimTerms;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use hookledger_shared::store::{ConnectOptions, Insertion, Stores};
use mongodb::ClientSession;
use mongodb::error::Error;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database of one's own on the server that all tests share.
pub(crate) async fn stores() -> Stores {
    stores_at(&shared::uri().await.unwrap(), "store-test").await
}

/// A database of one's own on another server.
pub(crate) async fn stores_at(uri: &str, app_name: &str) -> Stores {
    let stores = unprepared(uri, app_name).await;
    stores.preflight(&Stores::wanted()).await.unwrap();
    stores
}

/// The same, with nothing in it.
pub(crate) async fn unprepared(uri: &str, app_name: &str) -> Stores {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mongodb = Mongodb {
        uri: uri.to_owned(),
        database: format!("store_{}_{number}_{}", std::process::id(), ObjectId::new()),
    };
    let options = ConnectOptions::named(app_name);
    Stores::connect(&mongodb, &options).await.unwrap()
}

/// Another client of the same database, under another name.
pub(crate) async fn again(stores: &Stores, uri: &str, app_name: &str) -> Stores {
    let mongodb = Mongodb {
        uri: uri.to_owned(),
        database: stores.database().name().to_owned(),
    };
    Stores::connect(&mongodb, &ConnectOptions::named(app_name))
        .await
        .unwrap()
}

pub(crate) const LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn event(id: &str) -> NewEvent {
    NewEvent {
        event_id: id.to_owned(),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: Some("customer.subscription.updated".to_owned()),
        created: Some(1_767_225_600),
        livemode: Some(false),
        account: None,
        api_version: None,
        object_id: Some("sub_1".to_owned()),
        customer_id: None,
        content_type: None,
        body: "{}".into(),
        problem: None,
        received_at: bson::DateTime::from_millis(clock::now().timestamp_millis() - 1_000),
    }
}

pub(crate) async fn insert(stores: &Stores, ids: impl IntoIterator<Item = String>) {
    let rows: Vec<_> = ids.into_iter().map(|id| event(&id).row()).collect();
    let inserted = stores.events.insert_many(&rows, LIMIT).await.unwrap();
    assert!(inserted.iter().all(|one| *one == Insertion::Stored));
}

pub(crate) fn terms(owner: &str, lease: Duration) -> ClaimTerms {
    ClaimTerms {
        owner: owner.into(),
        lease,
    }
}

pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// Claims what must be there.
pub(crate) async fn claimed(
    stores: &Stores,
    slot: &mut Slot,
    terms: &ClaimTerms,
) -> (LedgerEvent, Claim) {
    let event = stores.events.claim(slot, terms).await.unwrap().unwrap();
    let claim = event.claim().unwrap();
    (event, claim)
}

/// A domain transaction that does nothing but fence and conclude.
pub(crate) struct Fence<'a> {
    pub(crate) stores: &'a Stores,
    pub(crate) claim: &'a Claim,
}

impl Work for Fence<'_> {
    type Output = bool;

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<bool>, Error> {
        let events = &self.stores.events;
        if !events.fence(session, self.claim).await? {
            return Ok(Verdict::Abort(false));
        }
        let applied = hookledger_shared::model::event::Outcome::Applied;
        events.conclude(session, self.claim, applied, LEASE).await?;
        Ok(Verdict::Commit(true))
    }
}
