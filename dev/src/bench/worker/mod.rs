//! `cargo dev bench worker`: events applied a second, for one customer whose events all
//! meet and for a thousand who never do, beside bare transactions of the same reads and
//! writes on the same server.

mod floor;
mod news;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bson::{DateTime, Document, doc};
use hookledger_shared::config::Mongodb;
use hookledger_shared::store::{ConnectOptions, Events, Stores};

use super::figures::median;
use crate::folder::Folder;
use crate::lives::ledger;
use crate::mongo::{Deployment, Members, ReplicaSetOptions, wait};
use crate::stack::{Stack, StackSettings, metrics};

/// Processors of the worker, and lanes of the floor.
const PROCESSORS: usize = 8;
/// Customers, subscriptions of each, and how many events all of them have. The hot one has
/// more subscriptions than there are processors: no event shall be stale.
const LEVELS: [(usize, usize, usize); 2] = [(1_000, 1, 4_000), (1, 16, 1_500)];
/// Transactions of the floor.
const FLOOR: usize = 4_000;
/// How long a level may take.
const LIMIT: Duration = Duration::from_secs(600);

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// One or three members.
    pub members: Members,
    /// How often everything is measured.
    pub runs: usize,
}

/// What one run at one level measured.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Events a second.
    rate: f64,
    /// Transactions run again, an event.
    conflicts: f64,
}

/// Measures and prints.
///
/// # Errors
/// When something can't be started or does not answer.
pub async fn run(options: Options) -> Result<()> {
    let set = match options.members {
        Members::One => ReplicaSetOptions::for_development(),
        Members::Three => ReplicaSetOptions::for_tests(Members::Three),
    };
    let deployment = Deployment::open(&set).await?;
    let mut floors = Vec::new();
    let mut levels: Vec<Vec<Run>> = vec![Vec::new(); LEVELS.len()];
    for number in 0..options.runs {
        eprintln!("run {} of {} …", number + 1, options.runs);
        floors.push(floor::run(&deployment.uri(), PROCESSORS, FLOOR).await?);
        for (backlog, runs) in LEVELS.into_iter().zip(&mut levels) {
            runs.push(level(&deployment.uri(), backlog).await?);
        }
    }
    print(&options, &floors, &levels);
    Ok(())
}

/// A database of one's own with a backlog in it, and a worker that works it off.
async fn level(uri: &str, backlog: (usize, usize, usize)) -> Result<Run> {
    let (customers, subscriptions, count) = backlog;
    let folder = Folder::temporary("bench")?;
    let name = format!("bench_{}", bson::oid::ObjectId::new());
    let mut settings = StackSettings::on_free_ports(uri, &name);
    settings.concurrency = PROCESSORS;
    let stack = Stack::prepare(&settings, folder.path()).await?;
    let mongodb = Mongodb {
        uri: uri.to_owned(),
        database: name,
    };
    let stores = Stores::connect(&mongodb, &ConnectOptions::named("bench")).await?;
    stores.preflight(&Stores::wanted()).await?;
    let backlog = news::of(customers, subscriptions, count);
    let backlog: Vec<_> = backlog.iter().collect();
    ledger::insert(&stores, &backlog).await?;
    let worker = stack.worker("bench-worker").await?;
    let events = ledger::documents(&stores, Events::NAME);
    wait::until("the backlog to be worked off", LIMIT, async || {
        let left = doc! { "status": { "$in": ["received", "processing"] } };
        Ok(events.find_one(left).await?.is_none().then_some(()))
    })
    .await?;
    let done = doc! { "outcome": { "$in": ["applied", "stale"] }, "attempts": 0 };
    let done = events.count_documents(done).await?;
    ensure!(done == count as u64, "{done} of {count} ended well");
    // By the server's clock, so that neither start nor our looking counts.
    let took = processed(&stores, -1).await?.timestamp_millis()
        - processed(&stores, 1).await?.timestamp_millis();
    let conflicts = metrics::conflicts(&worker).await?;
    drop(worker);
    stores.database().drop().await?;
    #[allow(clippy::cast_precision_loss, reason = "figures for people")]
    Ok(Run {
        rate: count as f64 * 1_000.0 / took.max(1) as f64,
        conflicts: conflicts as f64 / count as f64,
    })
}

/// When the first (1) or the last (-1) event was applied.
async fn processed(stores: &Stores, order: i32) -> Result<DateTime> {
    let events = ledger::documents(stores, Events::NAME);
    let row: Option<Document> = events
        .find_one(doc! {})
        .sort(doc! { "processedAt": order })
        .await?;
    Ok(*row.context("no event")?.get_datetime("processedAt")?)
}

fn print(options: &Options, floors: &[f64], levels: &[Vec<Run>]) {
    let members = match options.members {
        Members::One => "one member",
        Members::Three => "three members on one machine",
    };
    let (floor, spread) = median(floors.iter().copied());
    println!(
        "MongoDB with {members}, {PROCESSORS} processors, one event a transaction, median of {} runs\n",
        options.runs
    );
    println!(
        "floor: bare transactions that never meet, same reads and writes   {floor:>6.0}/s   (spread {spread:.0} %)\n"
    );
    println!("customers  events  events/s  spread  conflicts an event  / floor");
    for ((customers, _, count), runs) in LEVELS.iter().zip(levels) {
        let (rate, spread) = median(runs.iter().map(|run| run.rate));
        let (conflicts, _) = median(runs.iter().map(|run| run.conflicts));
        println!(
            "{customers:>9}  {count:>6}  {rate:>8.0}  {spread:>4.0} %  {conflicts:>18.2}  {:>7.2}",
            rate / floor,
        );
    }
}
