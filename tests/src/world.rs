//! One test's stack: a database, a receiver, and ingest and workers as often as wanted. At
//! its end [`World::finish`] checks what must hold after every test.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bson::{Bson, Document, doc};
use futures::TryStreamExt;
use hookledger_dev::mongo::{FailPoint, shared, wait};
use hookledger_dev::stack::settings::STRIPE_SECRET;
use hookledger_dev::stack::{Program, Stack, StackSettings};
use hookledger_dev::stripe::delivery::{Answer, Sender};
use hookledger_shared::clock;
use mongodb::{Client, Database};

use crate::http;
use crate::receiver::Receiver;

/// How long a condition may take: long against everything but a hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a test wants different.
#[derive(Debug, Clone)]
pub struct WorldOptions {
    /// A replica set of the test's own, instead of the shared one.
    pub uri: Option<String>,
    /// Events at a time.
    pub concurrency: usize,
    /// How long a claim holds; short, so that what is rescued is rescued soon.
    pub lease: Duration,
    /// How often an event is tried.
    pub max_attempts: u32,
    /// How long ingest waits for a commit.
    pub commit_timeout: Duration,
    /// Where Stripe's API is, when it may be asked.
    pub stripe_api: Option<String>,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            uri: None,
            concurrency: 4,
            lease: Duration::from_secs(2),
            max_attempts: 3,
            commit_timeout: Duration::from_secs(5),
            stripe_api: None,
        }
    }
}

/// One test's stack.
#[derive(Debug)]
pub struct World {
    /// Where the database is.
    pub uri: String,
    /// The test's own database, for looking at rows as they are.
    pub database: Database,
    /// Starts programs.
    pub stack: Stack,
    /// What the `app` sink sends to.
    pub receiver: Receiver,
    folder: PathBuf,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl World {
    /// With the defaults.
    ///
    /// # Errors
    /// When the world can't be made.
    pub async fn new() -> Result<Self> {
        Self::with(WorldOptions::default()).await
    }

    /// With what the test wants different.
    ///
    /// # Errors
    /// When the world can't be made.
    pub async fn with(options: WorldOptions) -> Result<Self> {
        let uri = match options.uri {
            Some(uri) => uri,
            None => shared::uri().await?,
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("e2e_{}_{number}", std::process::id());
        let folder = std::env::temp_dir().join(format!("hookledger-{name}"));
        std::fs::create_dir_all(&folder)?;
        let receiver = Receiver::start().await?;
        let mut settings = StackSettings::on_free_ports(&uri, &name);
        settings.concurrency = options.concurrency;
        settings.lease = options.lease;
        settings.max_attempts = options.max_attempts;
        settings.commit_timeout = options.commit_timeout;
        settings.settle = Duration::from_millis(100);
        settings.stripe_api = options.stripe_api;
        settings.app_url = Some(receiver.url());
        let stack = Stack::prepare(&settings, &folder).await?;
        let client = Client::with_uri_str(&uri).await?;
        let database = client.database(&name);
        database.drop().await?;
        Ok(Self {
            uri,
            database,
            stack,
            receiver,
            folder,
        })
    }

    /// A name for a program that no other test's fail point hits.
    #[must_use]
    pub fn app_name(&self, role: &str) -> String {
        format!("{}_{role}", self.database.name())
    }

    /// Starts an ingest and waits until it is ready: before that it answers 503.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn ingest(&self) -> Result<Program> {
        let ingest = self.stack.ingest(&self.app_name("ingest")).await?;
        let ready = format!("http://{}/readyz", ingest.address("ops")?);
        wait::until("ingest to be ready", PATIENCE, async || {
            Ok((http::get(&ready).await?.0 == 200).then_some(()))
        })
        .await?;
        Ok(ingest)
    }

    /// Starts a worker; `role` is how [`Self::fail`] aims at it.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn worker(&self, role: &str) -> Result<Program> {
        self.stack.worker(&self.app_name(role)).await
    }

    /// A failure of these commands on one of our collections, aimed at one program.
    pub fn fail(&self, role: &str, command: &str, collection: Option<&str>) -> FailPoint {
        let point = FailPoint::on_commands([command]).app_name(&self.app_name(role));
        match collection {
            Some(collection) => point.namespace(&format!("{}.{collection}", self.database.name())),
            None => point,
        }
    }

    /// Sends a body to an ingest, signed now.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, ingest: &Program, body: &str) -> Result<Answer> {
        let url = format!("http://{}/webhooks/stripe", ingest.address("webhooks")?);
        let sender = Sender::new(&url, STRIPE_SECRET)?;
        sender.send(body.as_bytes(), clock::unix_seconds()).await
    }

    /// Sends until it is acknowledged, as a provider does.
    ///
    /// # Errors
    /// When it never is.
    pub async fn deliver(&self, ingest: &Program, body: &str) -> Result<()> {
        wait::until("an acknowledgement", PATIENCE, async || {
            let answer = self.send(ingest, body).await?;
            ensure!(answer.status.is_success(), "answered {}", answer.status);
            Ok(Some(()))
        })
        .await
    }

    /// How many rows match.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(&self, collection: &str, filter: Document) -> Result<u64> {
        let rows = self.database.collection::<Document>(collection);
        Ok(rows.count_documents(filter).await?)
    }

    /// Every row that matches.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rows(&self, collection: &str, filter: Document) -> Result<Vec<Document>> {
        let rows = self.database.collection::<Document>(collection);
        Ok(rows.find(filter).await?.try_collect().await?)
    }

    /// One row of the ledger.
    ///
    /// # Errors
    /// When it is not there.
    pub async fn event(&self, id: &str) -> Result<Document> {
        let rows = self.rows("events", doc! { "eventId": id }).await?;
        rows.into_iter()
            .next()
            .with_context(|| format!("no event {id}"))
    }

    /// Waits until so many rows match.
    ///
    /// # Errors
    /// When they never do.
    pub async fn until_count(&self, collection: &str, filter: Document, wanted: u64) -> Result<()> {
        let what = format!("{wanted} of {collection} with {filter}");
        wait::until(&what, PATIENCE, async || {
            let count = self.count(collection, filter.clone()).await?;
            ensure!(count == wanted, "there are {count}");
            Ok(Some(()))
        })
        .await
    }

    /// Waits until nothing is left to do.
    ///
    /// # Errors
    /// When something never ends.
    pub async fn until_drained(&self) -> Result<()> {
        let busy = doc! { "status": { "$in": ["received", "processing"] } };
        self.until_count("events", busy, 0).await?;
        let busy = doc! { "status": { "$in": ["pending", "sending"] } };
        self.until_count("outbox", busy, 0).await
    }

    /// The end state without what may differ between two runs: versions, epochs, times.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_state(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let mut state = BTreeMap::new();
        for collection in STATE {
            let rows = self.rows(collection, doc! {}).await?;
            let mut rows: Vec<_> = rows.iter().map(|row| canonical(row).to_string()).collect();
            rows.sort();
            state.insert(collection.to_owned(), rows);
        }
        Ok(state)
    }

    /// What must hold after every test: every acknowledged event stands once and has ended;
    /// nothing is leased; each message stands once a destination, and each that was sent
    /// reached the receiver.
    ///
    /// # Errors
    /// Names what does not hold.
    pub async fn finish(self, acknowledged: &[&str]) -> Result<()> {
        for id in acknowledged {
            let rows = self.rows("events", doc! { "eventId": id }).await?;
            ensure!(
                rows.len() == 1,
                "{id} stands {} times in the ledger",
                rows.len()
            );
            let status = rows[0].get_str("status")?;
            ensure!(matches!(status, "processed" | "dead"), "{id} is {status}");
            ensure!(!rows[0].contains_key("lease"), "{id} is still leased");
        }
        let mut keys = BTreeMap::new();
        let delivered = self.receiver.counts();
        for row in self.rows("outbox", doc! {}).await? {
            let identity = (
                row.get_str("key")?.to_owned(),
                row.get_str("destination")?.to_owned(),
            );
            let twice = keys.insert(identity.clone(), ());
            ensure!(twice.is_none(), "{identity:?} stands twice in the outbox");
            ensure!(!row.contains_key("lease"), "{identity:?} is still leased");
            if row.get_str("status")? == "sent" {
                let id = match row.get("version") {
                    Some(Bson::Int64(version)) => format!("{}:{version}", identity.0),
                    _ => identity.0.clone(),
                };
                ensure!(
                    delivered.contains_key(&id),
                    "{id} is sent and never arrived"
                );
            }
        }
        Ok(())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A folder that stays is litter, not a failure.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What two runs of one history are compared by.
const STATE: [&str; 8] = [
    "subscriptions",
    "customers",
    "checkouts",
    "payments",
    "purchases",
    "creditEntries",
    "creditAccounts",
    "outbox",
];

/// What may differ: how often something was tried, when, by whom.
const MAY_DIFFER: [&str; 16] = [
    "version",
    "epoch",
    "attempts",
    "crashes",
    "lease",
    "trail",
    "lastError",
    "causedBy",
    "createdAt",
    "sentAt",
    "dueAt",
    "expireAt",
    "at",
    "updatedAt",
    "deadAt",
    "nextCheck",
];

fn canonical(document: &Document) -> Document {
    let kept = document.iter().filter(|(name, value)| {
        let differs = MAY_DIFFER.contains(&name.as_str());
        !differs && !matches!(value, Bson::ObjectId(_))
    });
    let mut fields: Vec<_> = kept
        .map(|(name, value)| (name.clone(), inner(value)))
        .collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields.into_iter().collect()
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other BSON type holds no documents"
)]
fn inner(value: &Bson) -> Bson {
    match value {
        Bson::Document(document) => canonical(document).into(),
        Bson::Array(values) => values.iter().map(inner).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}
