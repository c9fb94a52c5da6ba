//! What every test starts from: a database of its own, a worker's context over it, and
//! messages in the outbox, written as the worker writes them.

use std::time::Duration;

use bson::oid::ObjectId;
use bson::{DateTime, Document, doc};
use hookledger_dev::mongo::shared;
use hookledger_shared::backoff::Backoff;
use hookledger_shared::config::{Environment, Raw, WorkerSettings};
use hookledger_shared::model::lease::Transition;
use hookledger_shared::model::outbox::{CausedBy, OnceMessage, StateMessage};
use hookledger_shared::store::connect::ConnectOptions;
use hookledger_shared::store::outbox::Outbox;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use hookledger_shared::store::{Stores, events::ClaimTerms};
use hookledger_worker::app::Context;
use hookledger_worker::outbox::sink::http::Timeouts;
use hookledger_worker::outbox::{Deliverer, DelivererError, deliver_next};
use hookledger_worker::service::Step;
use mongodb::error::Error;
use mongodb::{ClientSession, Collection};

use crate::receiver::{Receiver, Reply};

/// 24 bytes of a key nobody uses, and 24 of another.
pub(crate) const SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
pub(crate) const NEW_SECRET: &str = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4";
pub(crate) const KEY: &str = "self:test:receipt:in_1";
pub(crate) const SETTLE: Duration = Duration::from_secs(2);
/// A transaction of these tests takes milliseconds.
const LIMIT: Duration = Duration::from_secs(20);

/// A sink of kind http, as the configuration writes it.
pub(crate) fn http(name: &str, url: &str) -> String {
    format!(
        "[[sink]]\nname = \"{name}\"\nkind = \"http\"\nurl = \"{url}\"\nsecrets = [\"env:APP\"]\n"
    )
}

/// One worker over one database.
pub(crate) struct World {
    pub(crate) stores: Stores,
    pub(crate) context: Context,
    pub(crate) deliverer: Deliverer,
}

impl World {
    /// A database of one's own, and everything goes to `receiver` as "app".
    pub(crate) async fn over(receiver: &Receiver) -> Self {
        Self::with(&http("app", &receiver.url())).await.unwrap()
    }

    /// The same with other sinks; all effects go to "app".
    pub(crate) async fn with(sinks: &str) -> Result<Self, DelivererError> {
        let database = format!("outbox_{}", ObjectId::new());
        let settings = settings(sinks, &shared::uri().await.unwrap(), &database);
        let options = ConnectOptions::named("outbox-test");
        let stores = Stores::connect(&settings.mongodb, &options).await.unwrap();
        // Nothing else of the database is used here, and indexes take their time.
        stores.preflight(&[Outbox::wanted()]).await.unwrap();
        Self::of(Context::new(stores, settings))
    }

    /// Another worker over the same database.
    pub(crate) fn another(&self) -> Self {
        let settings = WorkerSettings::clone(&self.context.settings);
        Self::of(Context::new(self.stores.clone(), settings)).unwrap()
    }

    fn of(context: Context) -> Result<Self, DelivererError> {
        let second = Duration::from_secs(1);
        let backoff = Backoff::try_new(second * 60, 2.0, second * 3_600, 3)?;
        // Short, so that a receiver that hangs does not hold the tests for long.
        let timeouts = Timeouts {
            connect: second,
            total: second * 4,
        };
        Ok(Self {
            stores: context.stores.clone(),
            deliverer: Deliverer::with(&context, backoff, timeouts)?,
            context,
        })
    }

    /// Begins anew with one message and what `receiver` says to it.
    pub(crate) async fn delivers(&self, receiver: &Receiver, reply: Reply) {
        self.rows().delete_many(doc! {}).await.unwrap();
        receiver.forget();
        receiver.replies(reply);
        self.once(doc! {}).await;
        self.deliver().await;
    }

    /// One step of the delivery to "app".
    pub(crate) async fn step(&self) -> Step {
        deliver_next(&self.deliverer, "app").await.unwrap()
    }

    /// One step that has something to do.
    pub(crate) async fn deliver(&self) {
        assert_eq!(self.step().await, Step::Worked);
    }

    /// Writes a one-off effect for "app", in a transaction.
    pub(crate) async fn once(&self, payload: Document) {
        self.write(Message::Once(once("app", payload))).await;
    }

    /// Writes a version of a state for "app", in a transaction.
    pub(crate) async fn state(&self, version: i64) {
        self.write(Message::State(state(version))).await;
    }

    pub(crate) async fn write(&self, message: Message) {
        let mut slot = Slot::open(&self.stores).await.unwrap();
        let outbox = &self.stores.outbox;
        let mut enqueue = Enqueue { outbox, message };
        let ended = slot.in_transaction(LIMIT, &mut enqueue).await.unwrap();
        assert!(ended.committed);
    }

    pub(crate) fn rows(&self) -> Collection<Document> {
        self.stores.database().collection(Outbox::NAME)
    }

    /// The only row there is.
    pub(crate) async fn row(&self) -> Document {
        assert_eq!(self.rows().count_documents(doc! {}).await.unwrap(), 1);
        self.rows().find_one(doc! {}).await.unwrap().unwrap()
    }

    /// Its status.
    pub(crate) async fn status(&self) -> String {
        self.row().await.get_str("status").unwrap().to_owned()
    }

    /// What its trail says.
    pub(crate) async fn trail(&self) -> Vec<String> {
        let row = self.row().await;
        let lines = row.get_array("trail").unwrap().iter();
        let what = |line: &bson::Bson| line.as_document()?.get_str("what").ok().map(str::to_owned);
        lines.map(|line| what(line).unwrap()).collect()
    }

    /// In how many milliseconds it is due, by the database's clock.
    pub(crate) async fn due_in(&self) -> i64 {
        let due = *self.row().await.get_datetime("dueAt").unwrap();
        let now = self.stores.server_time().await.unwrap();
        due.timestamp_millis() - now.timestamp_millis()
    }

    /// Makes everything due that waits.
    pub(crate) async fn all_due(&self) {
        self.set("dueAt", doc! { "status": "pending" }).await;
    }

    /// Makes every lease run out.
    pub(crate) async fn leases_over(&self) {
        self.set("lease.until", doc! { "status": "sending" }).await;
    }

    async fn set(&self, field: &str, filter: Document) {
        let long_ago = doc! { "$set": { field: DateTime::from_millis(0) } };
        let set = self.rows().update_many(filter, long_ago).await.unwrap();
        assert!(set.matched_count > 0, "no row whose {field} could be set");
    }

    /// What the rescue does once the leases are over.
    pub(crate) async fn rescue(&self) {
        self.leases_over().await;
        for row in self.stores.outbox.expired(10).await.unwrap() {
            let rescued = self.stores.outbox.rescue(&row, true, None).await.unwrap();
            assert_eq!(rescued, Transition::Done);
        }
    }

    pub(crate) fn metric(&self, line: &str) -> bool {
        let text = self.context.metrics.encode();
        text.lines().any(|metric| metric == line)
    }
}

/// A worker's settings with these sinks; everything goes to "app". The lease is what the
/// time-outs make of the shortest one, so that a third of it, when it is renewed, comes
/// before a receiver that hangs is given up.
fn settings(sinks: &str, uri: &str, database: &str) -> WorkerSettings {
    let secrets = [("APP", SECRET), ("NEW", NEW_SECRET)];
    let environment = Environment::from_pairs(secrets);
    let text = format!(
        "[mongodb]\nuri = \"{uri}\"\ndatabase = \"{database}\"\n[worker]\nlease_ms = 1000\n{sinks}\
         [[route]]\ntopic = \"*\"\nsinks = [\"app\"]\n"
    );
    let raw = Raw::from_text(&text, &environment).unwrap();
    WorkerSettings::read(&raw, &environment).unwrap()
}

pub(crate) fn terms(owner: &str) -> ClaimTerms {
    ClaimTerms {
        owner: owner.into(),
        lease: Duration::from_secs(30),
    }
}

fn caused_by() -> CausedBy {
    CausedBy {
        provider: "stripe".to_owned(),
        scope: "default".to_owned(),
        event_id: "evt_1".to_owned(),
    }
}

pub(crate) fn once(destination: &str, payload: Document) -> OnceMessage {
    OnceMessage {
        key: KEY.to_owned(),
        topic: "email.receipt".to_owned(),
        destination: destination.to_owned(),
        payload,
        caused_by: caused_by(),
    }
}

pub(crate) fn state(version: i64) -> StateMessage {
    StateMessage {
        key: "self:test:entitlement.changed:user_1".to_owned(),
        topic: "entitlement.changed".to_owned(),
        subject: "user_1".to_owned(),
        version,
        destination: "app".to_owned(),
        payload: doc! { format!("only{version}"): version },
        caused_by: caused_by(),
    }
}

/// What a transaction writes.
pub(crate) enum Message {
    Once(OnceMessage),
    State(StateMessage),
}

struct Enqueue<'a> {
    outbox: &'a Outbox,
    message: Message,
}

impl Work for Enqueue<'_> {
    type Output = ();

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<()>, Error> {
        match &self.message {
            Message::Once(message) => self.outbox.enqueue_once(session, message).await?,
            Message::State(message) => {
                self.outbox.enqueue_state(session, message, SETTLE).await?;
            }
        }
        Ok(Verdict::Commit(()))
    }
}
