//! Into the ledger, by the way ingest takes (the same rows, the same insertion), and what is
//! known in the end.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use bson::raw::RawDocumentBuf;
use bson::{Document, doc};
use futures::TryStreamExt;
use hookledger_shared::clock;
use hookledger_shared::model::credit::{CreditAccount, CreditEntry};
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;
use hookledger_shared::store::{
    CreditAccounts, CreditEntries, Customers, Outbox, Purchases, Stores, Subscriptions,
};
use mongodb::Collection;
use serde::de::DeserializeOwned;

use crate::stripe::event::Event;
use crate::stripe::life::judge::Known;
use crate::stripe::shape::API_VERSION;

const LIMIT: Duration = Duration::from_secs(30);
/// Rows an insertion: a group commit's usual size would leave little to mix.
const CHUNK: usize = 32;

/// Inserts deliveries in this order. Twins of other books get in as well, which an ingest
/// of one source would refuse.
pub(crate) async fn insert(stores: &Stores, deliveries: &[&Event]) -> Result<()> {
    for chunk in deliveries.chunks(CHUNK) {
        let rows: Vec<_> = chunk.iter().map(|event| row(event)).collect();
        stores.events.insert_many(&rows, LIMIT).await?;
    }
    Ok(())
}

/// The row that ingest makes of a delivery. What it reads for operators only is left out.
fn row(event: &Event) -> RawDocumentBuf {
    let new = NewEvent {
        event_id: event.id.clone(),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: Some(event.kind.clone()),
        created: Some(event.created),
        livemode: Some(false),
        account: None,
        api_version: Some(API_VERSION.to_owned()),
        object_id: None,
        customer_id: None,
        content_type: Some("application/json".to_owned()),
        body: event.body.clone().into(),
        problem: None,
        received_at: clock::now(),
    };
    new.row()
}

/// Everything that is in the database, with the messages that were swept out of it.
pub(super) async fn known(stores: &Stores, told: &[String]) -> Result<Known> {
    let mut known = Known {
        told: told.to_vec(),
        ..Known::default()
    };
    for one in all::<Subscription>(stores, Subscriptions::NAME).await? {
        known.subscriptions.insert(one.id.clone(), one);
    }
    for one in all::<Customer>(stores, Customers::NAME).await? {
        known.customers.insert(one.id.clone(), one);
    }
    for one in all::<Purchase>(stores, Purchases::NAME).await? {
        known.purchases.insert(one.id.clone(), one);
    }
    for one in all::<CreditAccount>(stores, CreditAccounts::NAME).await? {
        known.balances.insert(one.id, one.balance);
    }
    Ok(known)
}

/// The sum of each user's entries, by the key of its account.
pub(super) async fn sums(stores: &Stores) -> Result<BTreeMap<String, i64>> {
    let mut sums = BTreeMap::new();
    for entry in all::<CreditEntry>(stores, CreditEntries::NAME).await? {
        let book = hookledger_shared::model::book::Book {
            account: entry.account,
            livemode: entry.livemode,
        };
        *sums.entry(book.key(&entry.user_id)).or_default() += entry.credits;
    }
    Ok(sums)
}

/// Takes away the one-off messages that were sent, as their retention does in time: what
/// must not happen twice must be remembered elsewhere.
pub(super) async fn sweep(stores: &Stores, told: &mut Vec<String>) -> Result<()> {
    let outbox = documents(stores, Outbox::NAME);
    let sent = doc! { "status": "sent", "version": { "$exists": false } };
    let rows: Vec<Document> = outbox.find(sent).await?.try_collect().await?;
    for row in rows {
        told.push(row.get_str("key")?.to_owned());
        let id = row.get("_id").cloned();
        outbox.delete_one(doc! { "_id": id }).await?;
    }
    Ok(())
}

/// Rows as they are.
pub(crate) fn documents(stores: &Stores, name: &str) -> Collection<Document> {
    stores.database().collection(name)
}

async fn all<T: DeserializeOwned + Send + Sync>(stores: &Stores, name: &str) -> Result<Vec<T>> {
    let rows = stores.database().collection::<T>(name);
    Ok(rows.find(doc! {}).await?.try_collect().await?)
}
