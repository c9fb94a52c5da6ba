//! The floor: what the same server does when each transaction has the reads and writes of
//! an applied event, on documents of its own, without rules and without anybody to meet.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bson::{Document, doc};
use futures::future::try_join_all;
use hookledger_shared::config::Mongodb;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use hookledger_shared::store::{ConnectOptions, Stores};
use hookledger_shared::task;
use mongodb::error::Error;
use mongodb::options::{Acknowledgment, WriteConcern};
use mongodb::{ClientSession, Collection};

const LIMIT: Duration = Duration::from_secs(30);
/// About as much as a domain document has.
const FILLER: usize = 1_000;

/// So many transactions over so many lanes. Answers how many a second.
pub(super) async fn run(uri: &str, lanes: usize, count: usize) -> Result<f64> {
    let mongodb = Mongodb {
        uri: uri.to_owned(),
        database: format!("bench_floor_{}", bson::oid::ObjectId::new()),
    };
    let stores = Stores::connect(&mongodb, &ConnectOptions::named("bench-floor")).await?;
    // Collections come into being here: inside a transaction that is slow and conflicts.
    let rows: Collection<Document> = stores.database().collection("rows");
    let per_lane = count / lanes;
    let new = |number| doc! { "_id": number, "n": 0, "filler": "x".repeat(FILLER) };
    let count = per_lane * lanes;
    for name in ["rows", "subscriptions", "customers", "outbox"] {
        let collection: Collection<Document> = stores.database().collection(name);
        let all = (0..count as i64).map(new);
        collection.insert_many(all).await?;
    }
    let started = Instant::now();
    let running = (0..lanes).map(|lane| {
        let first = (lane * per_lane) as i64;
        let numbers = first..first + per_lane as i64;
        let lane = task::spawn("lane", walk(stores.clone(), rows.clone(), numbers));
        async move { lane.await.context("a lane broke off")? }
    });
    try_join_all(running).await?;
    let took = started.elapsed();
    stores.database().drop().await?;
    #[allow(clippy::cast_precision_loss, reason = "figures for people")]
    Ok(count as f64 / took.as_secs_f64())
}

/// One lane: claim and transaction, again and again.
async fn walk(
    stores: Stores,
    rows: Collection<Document>,
    numbers: std::ops::Range<i64>,
) -> Result<()> {
    let mut slot = Slot::open(&stores).await?;
    for number in numbers {
        let claim = rows.find_one_and_update(doc! { "_id": number }, grow());
        let one = WriteConcern::builder().w(Acknowledgment::Nodes(1)).build();
        claim.write_concern(one).session(slot.session()).await?;
        let mut work = Bare {
            stores: &stores,
            number,
        };
        slot.in_transaction(LIMIT, &mut work).await?;
    }
    Ok(())
}

fn grow() -> Document {
    doc! { "$inc": { "n": 1 } }
}

/// The reads and writes of an event that changes a subscription and its entitlement.
struct Bare<'a> {
    stores: &'a Stores,
    number: i64,
}

impl Work for Bare<'_> {
    type Output = ();

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<()>, Error> {
        let mine = doc! { "_id": self.number };
        let of = |name: &str| self.stores.database().collection::<Document>(name);
        // The fence.
        of("rows")
            .update_one(mine.clone(), grow())
            .session(&mut *session)
            .await?;
        // The subscription, the customer, and all of its subscriptions.
        for name in ["subscriptions", "customers", "subscriptions"] {
            of(name)
                .find_one(mine.clone())
                .session(&mut *session)
                .await?;
        }
        // What the rule decided, and the event's outcome.
        for name in ["subscriptions", "customers", "outbox", "rows"] {
            of(name)
                .update_one(mine.clone(), grow())
                .session(&mut *session)
                .await?;
        }
        Ok(Verdict::Commit(()))
    }
}
