//! `cargo dev bench ingest`: acknowledged deliveries a second and their latency, beside the
//! raw driver's inserts of the same rows.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use bson::doc;
use hookledger_shared::clock;
use hookledger_shared::model::event::NewEvent;
use mongodb::Client;

use super::figures::{Run, median, ms};
use super::floor::Floor;
use super::load::{self, BODY_BYTES};
use super::process::resident;
use crate::folder::Folder;
use crate::mongo::{Deployment, Members, ReplicaSetOptions, wait};
use crate::stack::{Stack, StackSettings};

/// Connections, and how many deliveries each level gets.
const LEVELS: [(usize, usize); 4] = [(1, 1_500), (16, 10_000), (64, 25_000), (256, 40_000)];
/// The floor's batch, as large as a group commit's usual one.
const BATCH: usize = 128;
/// Rows the floor inserts in batches, and one by one.
const FLOOR_ROWS: usize = 25_000;
const SINGLE_ROWS: usize = 4_000;
/// How many events the worker finds waiting.
const BACKLOG: usize = 10_000;
/// How long the worker may take for the backlog.
const DRAIN_LIMIT: Duration = Duration::from_secs(600);

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// One or three members.
    pub members: Members,
    /// How often everything is measured.
    pub runs: usize,
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
    let folder = Folder::temporary("bench")?;
    let name = format!("bench_{}", bson::oid::ObjectId::new());
    let settings = StackSettings::on_free_ports(&deployment.uri(), &name);
    let stack = Stack::prepare(&settings, folder.path()).await?;
    let ingest = stack.ingest("bench-ingest").await?;
    let address = ingest.address("webhooks")?;
    ready(address).await?;
    let rest = resident(ingest.pid())?;

    let mut batched = Vec::new();
    let mut singles = Vec::new();
    let mut levels: Vec<Vec<Run>> = vec![Vec::new(); LEVELS.len()];
    for number in 0..options.runs {
        eprintln!("run {} of {} …", number + 1, options.runs);
        let floor = Floor::open(&deployment.uri(), &format!("{name}_floor")).await?;
        let seed = fastrand::u64(..);
        let rows: Vec<_> = (0..FLOOR_ROWS).map(|n| row(seed, n)).collect();
        batched.push(floor.insert(&rows, BATCH, 1).await?);
        let rows: Vec<_> = (0..SINGLE_ROWS)
            .map(|n| row(seed.wrapping_add(1), n))
            .collect();
        singles.push(floor.insert(&rows, 1, 64).await?);
        floor.close().await?;
        for ((connections, count), runs) in LEVELS.into_iter().zip(&mut levels) {
            let seed = fastrand::u64(..);
            let requests = (0..count).map(|n| load::request(&load::body(seed, n)));
            runs.push(load::run(address, connections, requests.collect()).await?);
        }
    }
    let load = resident(ingest.pid())?;
    print(&options, &batched, &singles, &levels);
    println!("\nmemory        at rest   after the load   highest");
    println!(
        "  ingest    {:>7.1} MiB {:>9.1} MiB {:>9.1} MiB",
        rest.0, load.0, load.1
    );
    worker_memory(&deployment.uri(), &name, &stack, address).await?;
    Client::with_uri_str(deployment.uri())
        .await?
        .database(&name)
        .drop()
        .await?;
    Ok(())
}

/// Starts a worker on a backlog of its own; that of the load would take minutes.
async fn worker_memory(uri: &str, name: &str, stack: &Stack, ingest: SocketAddr) -> Result<()> {
    let database = Client::with_uri_str(uri).await?.database(name);
    let events = database.collection::<bson::Document>("events");
    events.delete_many(doc! {}).await?;
    let seed = fastrand::u64(..);
    let requests = (0..BACKLOG).map(|n| load::request(&load::body(seed, n)));
    load::run(ingest, 64, requests.collect()).await?;
    let started = std::time::Instant::now();
    let worker = stack.worker("bench-worker").await?;
    wait::until("the backlog to be worked off", DRAIN_LIMIT, async || {
        let waiting = events.find_one(doc! { "status": "received" }).await?;
        Ok(waiting.is_none().then_some(()))
    })
    .await?;
    let took = started.elapsed();
    let (now, highest) = resident(worker.pid())?;
    println!("  worker        (below) {now:>9.1} MiB {highest:>9.1} MiB");
    #[allow(clippy::cast_precision_loss, reason = "a count of events for people")]
    let rate = BACKLOG as f64 / took.as_secs_f64();
    println!(
        "\nthe worker ended {BACKLOG} waiting events nobody handles in {took:.1?}: {rate:.0}/s"
    );
    let idle = stack.worker("bench-idle").await?;
    wait::until("the second worker", DRAIN_LIMIT, async || {
        let rows = database.collection::<bson::Document>("workers");
        Ok((rows.count_documents(doc! {}).await? >= 2).then_some(()))
    })
    .await?;
    println!("a worker at rest: {:.1} MiB", resident(idle.pid())?.0);
    Ok(())
}

async fn ready(address: SocketAddr) -> Result<()> {
    wait::until("ingest to store", DRAIN_LIMIT, async || {
        let warm = vec![load::request(&load::body(fastrand::u64(..), 0))];
        load::run(address, 1, warm).await.map(Some)
    })
    .await?;
    Ok(())
}

/// The row that ingest makes of such a delivery.
fn row(seed: u64, number: usize) -> bson::raw::RawDocumentBuf {
    let event = NewEvent {
        event_id: format!("evt_bench_{seed}_{number}"),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: Some("bench.delivered".to_owned()),
        created: Some(1_790_000_000),
        livemode: Some(false),
        account: None,
        api_version: Some("2025-09-30.clover".to_owned()),
        object_id: Some(format!("obj_{number}")),
        customer_id: None,
        content_type: Some("application/json".to_owned()),
        body: load::body(seed, number).into(),
        problem: None,
        received_at: clock::now(),
    };
    event.row()
}

fn print(options: &Options, batched: &[Run], singles: &[Run], levels: &[Vec<Run>]) {
    let rate = |runs: &[Run]| median(runs.iter().map(|run| run.rate));
    let ((floor, floor_spread), (single, single_spread)) = (rate(batched), rate(singles));
    let members = match options.members {
        Members::One => "one member",
        Members::Three => "three members on one machine",
    };
    println!(
        "MongoDB with {members}, bodies of {BODY_BYTES} bytes, majority and journaled, median of {} runs\n",
        options.runs
    );
    println!(
        "floor: raw insert_many({BATCH})   {floor:>8.0} rows/s   (spread {floor_spread:.0} %)"
    );
    println!("one insert a row, 64 at once {single:>8.0} rows/s   (spread {single_spread:.0} %)\n");
    println!("connections  acknowledged/s  spread      p50 ms      p99 ms   / floor  / one insert");
    for ((connections, _), runs) in LEVELS.iter().zip(levels) {
        let (rate, spread) = rate(runs);
        let (p50, _) = median(runs.iter().map(|run| ms(run.p50)));
        let (p99, _) = median(runs.iter().map(|run| ms(run.p99)));
        println!(
            "{connections:>11}  {rate:>14.0}  {spread:>4.0} %  {p50:>10.2}  {p99:>10.2}  {:>8.2}  {:>12.1}",
            rate / floor,
            rate / single,
        );
    }
}
