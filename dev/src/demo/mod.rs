//! The demo: a customer's first minutes, every event twice and shuffled, through the real
//! programs; then an account of what became of it.

mod account;

use std::time::Duration;

use anyhow::{Result, ensure};
use bson::doc;
use futures::StreamExt;
use hookledger_shared::clock;
use mongodb::{Client, Database};

use crate::folder::Folder;
use crate::mongo::{Deployment, ReplicaSetOptions, wait};
use crate::stack::settings::STRIPE_SECRET;
use crate::stack::{Program, Stack, StackSettings};
use crate::stripe::delivery::Sender;
use crate::stripe::history::History;

pub use account::Account;

/// Deliveries under way at the same moment, as from a provider that does not wait.
const AT_ONCE: usize = 8;
/// How long everything may take to be applied and delivered.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a program may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// What ingest answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers {
    /// Newly stored.
    pub stored: usize,
    /// Known already.
    pub duplicates: usize,
}

/// Runs the demo with this seed.
///
/// # Errors
/// When something could not be started, or never ended.
pub async fn run(seed: u64) -> Result<Account> {
    let deployment = Deployment::open(&ReplicaSetOptions::for_development()).await?;
    let folder = Folder::temporary("demo")?;
    let name = format!("hookledger_demo_{}", bson::oid::ObjectId::new());
    let settings = StackSettings::on_free_ports(&deployment.uri(), &name);
    let stack = Stack::prepare(&settings, folder.path()).await?;
    let ingest = stack.ingest("hookledger-ingest").await?;
    let worker = stack.worker("hookledger-worker").await?;
    let database = Client::with_uri_str(deployment.uri())
        .await?
        .database(&name);

    let history = History::new(seed, clock::unix_seconds());
    let answers = send(&ingest, &history).await?;
    drain(&database).await?;
    let account = Account::of(&database, &history, answers).await?;
    ingest.stop(STOP_LIMIT).await?;
    worker.stop(STOP_LIMIT).await?;
    database.drop().await?;
    Ok(account)
}

async fn send(ingest: &Program, history: &History) -> Result<Answers> {
    let url = format!("http://{}/webhooks/stripe", ingest.address("webhooks")?);
    let sender = Sender::new(&url, STRIPE_SECRET)?;
    let deliveries = futures::stream::iter(history.deliveries());
    let sent = deliveries.map(|event| {
        let sender = sender.clone();
        async move {
            // A 503 (ingest is not ready yet) is repeated, as Stripe does.
            wait::until("an acknowledgement", PATIENCE, async || {
                let answer = sender
                    .send(event.body.as_bytes(), clock::unix_seconds())
                    .await?;
                ensure!(
                    answer.status.is_success(),
                    "{} {}",
                    answer.status,
                    answer.body
                );
                Ok(Some(answer.body.contains("duplicate")))
            })
            .await
        }
    });
    let mut sent = std::pin::pin!(sent.buffer_unordered(AT_ONCE));
    let mut answers = Answers::default();
    while let Some(duplicate) = sent.next().await {
        match duplicate? {
            true => answers.duplicates += 1,
            false => answers.stored += 1,
        }
    }
    Ok(answers)
}

/// Waits until every event and every message has ended.
async fn drain(database: &Database) -> Result<()> {
    for (collection, busy) in [
        ("events", ["received", "processing"]),
        ("outbox", ["pending", "sending"]),
    ] {
        let rows = database.collection::<bson::Document>(collection);
        let filter = doc! { "status": { "$in": busy.to_vec() } };
        wait::until(
            &format!("{collection} to be worked off"),
            PATIENCE,
            async || {
                let left = rows.count_documents(filter.clone()).await?;
                ensure!(left == 0, "{left} are left");
                Ok(Some(()))
            },
        )
        .await?;
    }
    Ok(())
}
