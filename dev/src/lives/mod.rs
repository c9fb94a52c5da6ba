//! Lives through the real programs: [random ones](crate::stripe::life) into the ledger,
//! shuffled and doubled, several customers at once; a worker of eight processors that is
//! killed at random points; after each batch the live documents are what is so, or flagged.
//!
//! - `batch`: what one batch of lives goes through
//! - `ledger`: into the ledger, and what is known in the end
//! - [`account`]: what became of it all

pub mod account;
mod batch;
pub(crate) mod ledger;

use anyhow::Result;
use fastrand::Rng;
use hookledger_shared::config::Mongodb;
use hookledger_shared::store::{ConnectOptions, Stores};

use self::batch::Run;
use crate::folder::Folder;
use crate::stack::{Stack, StackSettings};
use crate::stripe::life::Life;

pub use account::Account;

/// Lives in the ledger at the same time.
const AT_ONCE: usize = 40;
/// Processors of the worker.
const PROCESSORS: usize = 8;
/// How long a claim holds: short, so that what a kill leaves behind is soon rescued.
const LEASE: std::time::Duration = std::time::Duration::from_secs(2);
/// How long a state message settles.
const SETTLE: std::time::Duration = std::time::Duration::from_millis(100);

/// Takes `rounds` lives, the first with this seed, through the programs on the replica set
/// at `uri`.
///
/// # Errors
/// When something can't be started or never ends. What ends wrong is in the account.
pub async fn run(uri: &str, rounds: usize, seed: u64) -> Result<Account> {
    let seeds = (0..rounds as u64).map(|number| seed.wrapping_add(number));
    let lives: Vec<Life> = seeds.map(Life::new).collect();
    through(uri, lives, seed).await
}

/// Takes these lives through the programs. The seed decides about kills and order.
///
/// # Errors
/// When something can't be started or never ends.
pub async fn through(uri: &str, lives: Vec<Life>, seed: u64) -> Result<Account> {
    let folder = Folder::temporary("lives")?;
    let name = format!("lives_{}", bson::oid::ObjectId::new());
    let mut settings = StackSettings::on_free_ports(uri, &name);
    settings.concurrency = PROCESSORS;
    settings.lease = LEASE;
    settings.settle = SETTLE;
    let stack = Stack::prepare(&settings, folder.path()).await?;
    let mongodb = Mongodb {
        uri: uri.to_owned(),
        database: name,
    };
    let stores = Stores::connect(&mongodb, &ConnectOptions::named("lives")).await?;
    stores.preflight(&Stores::wanted()).await?;
    let mut run = Run::start(&stack, &stores, Rng::with_seed(seed)).await?;
    let batches = lives.len().div_ceil(AT_ONCE);
    for (number, batch) in lives.chunks(AT_ONCE).enumerate() {
        if batches > 10 {
            eprintln!("batch {} of {batches} …", number + 1);
        }
        run.batch(batch).await?;
    }
    let account = run.finish(&lives).await?;
    if account.faults.is_empty() {
        stores.database().drop().await?;
    }
    Ok(account)
}
