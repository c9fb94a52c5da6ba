//! What one batch of lives goes through: some of it over HTTP, the rest straight into the
//! ledger; a worker that dies twice meanwhile; and the comparison in the end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bson::{Document, doc};
use fastrand::Rng;
use futures::{StreamExt, TryStreamExt};
use hookledger_shared::clock;
use hookledger_shared::store::{Events, Outbox, Stores};

use super::account::Account;
use super::ledger;
use crate::mongo::wait;
use crate::stack::settings::STRIPE_SECRET;
use crate::stack::{Program, Stack, metrics};
use crate::stripe::delivery::Sender;
use crate::stripe::event::Event;
use crate::stripe::life::Life;
use crate::stripe::life::judge::judge;

/// How long anything may take: long against everything but a hang.
const PATIENCE: Duration = Duration::from_secs(180);
/// Kills a batch. An event whose worker dies three times is a dead letter, and rightly so.
const KILLS: usize = 2;
/// Deliveries under way at the same moment.
const AT_ONCE: usize = 8;
/// How long a program may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// A run over several batches.
pub(super) struct Run<'a> {
    stack: &'a Stack,
    stores: &'a Stores,
    random: Rng,
    ingest: Program,
    worker: Option<Program>,
    told: Vec<String>,
    started: Instant,
    account: Account,
}

impl<'a> Run<'a> {
    pub(super) async fn start(stack: &'a Stack, stores: &'a Stores, random: Rng) -> Result<Self> {
        Ok(Self {
            stack,
            stores,
            random,
            ingest: stack.ingest("lives-ingest").await?,
            worker: Some(stack.worker("lives-worker").await?),
            told: Vec::new(),
            started: Instant::now(),
            account: Account::default(),
        })
    }

    /// All of these lives at once, to their end.
    pub(super) async fn batch(&mut self, lives: &[Life]) -> Result<()> {
        let already = self.account.events as u64;
        let total: usize = lives.iter().map(|life| life.events.len()).sum();
        self.account.rounds += lives.len();
        self.account.events += total;
        // One over HTTP: one that a source of test events takes.
        let over_http = lives.iter().position(|life| life.truths.len() == 1);
        let mut deliveries = Vec::new();
        for (number, life) in lives.iter().enumerate() {
            let mine = life.deliveries(&mut self.random);
            self.account.deliveries += mine.len();
            if over_http == Some(number) {
                self.send(&mine).await?;
            } else {
                deliveries.extend(mine);
            }
        }
        // Either one customer after another, each hot for a while, or all of them mixed.
        if self.random.bool() {
            self.random.shuffle(&mut deliveries);
        }
        ledger::insert(self.stores, &deliveries).await?;
        let mut moments: Vec<u64> = (0..KILLS)
            .map(|_| self.random.u64(1..=total as u64))
            .collect();
        moments.sort_unstable();
        for moment in moments {
            self.kill_after(already + moment).await?;
        }
        self.drain().await?;
        self.compare(lives).await
    }

    /// Kills the worker once so many events have ended, and starts another.
    async fn kill_after(&mut self, ended: u64) -> Result<()> {
        let events = ledger::documents(self.stores, Events::NAME);
        wait::until("events to end", PATIENCE, async || {
            self.hurry().await?;
            let count = events
                .count_documents(doc! { "status": "processed" })
                .await?;
            ensure!(count >= ended, "{count} of {ended} have ended");
            Ok(Some(()))
        })
        .await?;
        self.note_conflicts().await?;
        let worker = self.worker.take().context("no worker")?;
        worker.kill().await?;
        self.account.kills += 1;
        ledger::sweep(self.stores, &mut self.told).await?;
        self.worker = Some(self.stack.worker("lives-worker").await?);
        Ok(())
    }

    /// Waits until nothing is left to do.
    async fn drain(&self) -> Result<()> {
        let busy = [
            (Events::NAME, ["received", "processing"]),
            (Outbox::NAME, ["pending", "sending"]),
        ];
        for (name, statuses) in busy {
            let rows = ledger::documents(self.stores, name);
            wait::until(&format!("{name} to be done"), PATIENCE, async || {
                self.hurry().await?;
                let left = rows
                    .find_one(doc! { "status": { "$in": statuses } })
                    .await?;
                ensure!(left.is_none(), "{left:?}");
                Ok(Some(()))
            })
            .await?;
        }
        Ok(())
    }

    /// Time passes for events that wait for a customer's link: the hint that it has come
    /// dies with a worker, and their backoff is longer than our patience.
    async fn hurry(&self) -> Result<()> {
        let waiting = doc! { "status": "received", "waitsFor": { "$exists": true } };
        let due = vec![doc! { "$set": { "dueAt": "$$NOW" } }];
        let events = ledger::documents(self.stores, Events::NAME);
        events.update_many(waiting, due).await?;
        Ok(())
    }

    /// What is known of these lives, against what is so.
    async fn compare(&mut self, lives: &[Life]) -> Result<()> {
        ledger::sweep(self.stores, &mut self.told).await?;
        let known = ledger::known(self.stores, &self.told).await?;
        for life in lives {
            for truth in &life.truths {
                let verdict = judge(truth, &known);
                self.account.flagged += verdict.flagged.len();
                let wrong = verdict.wrong.into_iter();
                let wrong = wrong.map(|wrong| format!("{}: {wrong}", life.name));
                self.account.faults.extend(wrong);
            }
        }
        Ok(())
    }

    /// What must hold over all batches.
    pub(super) async fn finish(mut self, lives: &[Life]) -> Result<Account> {
        self.account.took = self.started.elapsed();
        self.note_conflicts().await?;
        self.check_ledger(lives).await?;
        let known = ledger::known(self.stores, &self.told).await?;
        let sums = ledger::sums(self.stores).await?;
        for (key, balance) in &known.balances {
            let sum = sums.get(key).copied().unwrap_or(0);
            if sum != *balance {
                let fault = format!("{key} has {balance}, the sum of its entries is {sum}");
                self.account.faults.push(fault);
            }
        }
        self.account.messages = self.told.len();
        if let Some(worker) = self.worker.take() {
            worker.stop(STOP_LIMIT).await?;
        }
        self.rebuild().await?;
        self.ingest.stop(STOP_LIMIT).await?;
        Ok(self.account)
    }

    /// The ledger must say the same again.
    async fn rebuild(&mut self) -> Result<()> {
        let check = self.stack.command(&["rebuild", "--check"]).output().await?;
        if !check.status.success() {
            let said = String::from_utf8_lossy(&check.stdout);
            let fault = format!("the ledger says otherwise: {said}");
            self.account.faults.push(fault);
        }
        Ok(())
    }

    /// Each event stands once, has ended, is no dead letter and cost no attempt.
    async fn check_ledger(&mut self, lives: &[Life]) -> Result<()> {
        let events = ledger::documents(self.stores, Events::NAME);
        let count = events.count_documents(doc! {}).await?;
        if count != self.account.events as u64 {
            let fault = format!("{count} events in the ledger, not {}", self.account.events);
            self.account.faults.push(fault);
        }
        let not_so = doc! { "$or": [
            { "status": { "$ne": "processed" } },
            { "attempts": { "$gt": 0 } },
            { "lease": { "$exists": true } },
        ] };
        let rows: Vec<Document> = events.find(not_so).await?.try_collect().await?;
        for row in rows {
            let id = row.get_str("eventId")?;
            let of = |life: &&Life| life.events.iter().any(|event| event.id == id);
            let life = lives.iter().find(of).map_or("no life", |life| &life.name);
            let (status, error) = (row.get("status"), row.get("lastError"));
            let fault = format!("{life}: {id} is {status:?}, {error:?}");
            self.account.faults.push(fault);
        }
        let crashed = doc! { "crashes": { "$gt": 0 } };
        self.account.crashes = events.count_documents(crashed).await?;
        Ok(())
    }

    /// Deliveries as a provider sends them: several at once, again until acknowledged.
    async fn send(&self, deliveries: &[&Event]) -> Result<()> {
        let url = format!(
            "http://{}/webhooks/stripe",
            self.ingest.address("webhooks")?
        );
        let sender = Sender::new(&url, STRIPE_SECRET)?;
        let sent = futures::stream::iter(deliveries).map(|event| {
            wait::until("an acknowledgement", PATIENCE, async || {
                let body = event.body.as_bytes();
                let answer = sender.send(body, clock::unix_seconds()).await?;
                ensure!(answer.status.is_success(), "answered {}", answer.status);
                Ok(Some(()))
            })
        });
        sent.buffer_unordered(AT_ONCE).try_collect().await
    }

    /// The conflicts of the worker that runs now; they go with it.
    async fn note_conflicts(&mut self) -> Result<()> {
        if let Some(worker) = &self.worker {
            self.account.conflicts += metrics::conflicts(worker).await?;
        }
        Ok(())
    }
}
