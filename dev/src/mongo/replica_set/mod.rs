//! A replica set on this machine: one member for development and most tests, three for elections.

mod options;

use std::time::Duration;

use anyhow::{Context, Result};
use bson::{Document, doc};
use futures::future;

pub use self::options::{Members, ReplicaSetOptions};
use super::direct::{self, PROBE_TIMEOUT};
use super::process::Mongod;
use super::wait;

const NAME: &str = "rs0";

/// How long a new set may take until it can write, and how long an election may take. Generous on purpose:
/// a busy machine is no failure of what is being tested.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running replica set. Dropping it kills its members and removes their data.
#[derive(Debug)]
pub struct ReplicaSet {
    members: Vec<Mongod>,
}

impl ReplicaSet {
    /// Starts the members, makes them a replica set, and waits until all have a role and a write reaches a
    /// majority.
    ///
    /// # Errors
    /// When a member does not start, or the set does not become writable.
    pub async fn start(options: &ReplicaSetOptions) -> Result<Self> {
        let starting = (0..options.members.count()).map(|_| Mongod::start(options.mongod()));
        let set = Self {
            members: future::try_join_all(starting).await?,
        };
        let first = set.members.first().context("a replica set has a member")?;
        first
            .command(doc! { "replSetInitiate": options.configuration(&set.members) })
            .await?;
        set.wait_until_whole().await?;
        set.wait_until_writable().await?;
        Ok(set)
    }

    /// Where to reach the set, for any client.
    #[must_use]
    pub fn uri(&self) -> String {
        let hosts: Vec<String> = self
            .members
            .iter()
            .map(|member| format!("127.0.0.1:{}", member.port()))
            .collect();
        format!("mongodb://{}/?replicaSet={NAME}", hosts.join(","))
    }

    /// How many members it has, running or not.
    #[must_use]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// A member by its number, from 0.
    ///
    /// # Panics
    /// When there is no such member.
    #[must_use]
    pub fn member(&self, index: usize) -> &Mongod {
        &self.members[index]
    }

    /// A member to be killed, paused or restarted.
    ///
    /// # Panics
    /// When there is no such member.
    pub fn member_mut(&mut self, index: usize) -> &mut Mongod {
        &mut self.members[index]
    }

    /// The number of the primary, waiting for an election to end when there is none.
    ///
    /// # Errors
    /// When none is found within a minute.
    pub async fn primary(&self) -> Result<usize> {
        wait::until("a primary", PATIENCE, async || Ok(self.primary_now().await)).await
    }

    /// Has the primary step down, and returns once it has. With one member it becomes primary again after a
    /// second or so.
    ///
    /// # Errors
    /// When there is no primary, or it refuses.
    pub async fn step_down(&self) -> Result<()> {
        const NOT_AGAIN_FOR_S: i32 = 5;
        let alone = self.members.len() == 1;
        let command = if alone {
            doc! { "replSetStepDown": 1, "force": true }
        } else {
            doc! { "replSetStepDown": NOT_AGAIN_FOR_S, "secondaryCatchUpPeriodSecs": NOT_AGAIN_FOR_S - 1 }
        };
        self.members[self.primary().await?].command(command).await?;
        Ok(())
    }

    /// Waits until a write reaches a majority, as after a failover or a restart.
    ///
    /// # Errors
    /// When that does not happen within a minute.
    pub async fn wait_until_writable(&self) -> Result<()> {
        wait::until("a majority write", PATIENCE, async || {
            let primary = self.primary_now().await.context("no primary")?;
            // A note in the oplog is a write like any other, and leaves no collection behind.
            let note = doc! {
                "appendOplogNote": 1,
                "data": { "hookledger": "are you there" },
                "writeConcern": { "w": "majority", "wtimeout": 5000 },
            };
            self.members[primary].command(note).await?;
            Ok(Some(()))
        })
        .await
    }

    /// Waits until every member that runs is primary or secondary.
    ///
    /// # Errors
    /// When that does not happen within a minute.
    pub async fn wait_until_whole(&self) -> Result<()> {
        wait::until("all members to have a role", PATIENCE, async || {
            let answers = future::join_all(
                self.members
                    .iter()
                    .filter(|member| member.is_running())
                    .map(hello),
            )
            .await;
            let ready =
                |answer: &Document| flag(answer, "isWritablePrimary") || flag(answer, "secondary");
            Ok(answers
                .iter()
                .all(|answer| answer.as_ref().is_ok_and(ready))
                .then_some(()))
        })
        .await
    }

    /// Stops all members cleanly. Dropping the set is quicker, and as thorough.
    ///
    /// # Errors
    /// When a member can't be told to stop.
    pub async fn stop(mut self) -> Result<()> {
        future::try_join_all(self.members.iter_mut().map(Mongod::stop)).await?;
        Ok(())
    }

    /// The primary at this moment. A deposed one may still believe in itself for a moment (or after a pause):
    /// the latest election counts.
    async fn primary_now(&self) -> Option<usize> {
        let answers = future::join_all(self.members.iter().map(hello)).await;
        let claims = answers
            .into_iter()
            .enumerate()
            .filter_map(|(index, answer)| {
                let answer = answer
                    .ok()
                    .filter(|answer| flag(answer, "isWritablePrimary"))?;
                Some((answer.get_object_id("electionId").ok()?, index))
            });
        claims.max().map(|(_, index)| index)
    }
}

/// Asks a member for its role. One that is not running is not asked: something else may have its port by now.
async fn hello(member: &Mongod) -> Result<Document> {
    anyhow::ensure!(member.is_running(), "mongod {} has ended", member.pid());
    direct::command_within(PROBE_TIMEOUT, &member.uri(), doc! { "hello": 1 }).await
}

fn flag(answer: &Document, name: &str) -> bool {
    answer.get_bool(name).unwrap_or(false)
}
