//! The floor: the raw driver inserting the same rows at the same write concern into a
//! collection with the same indexes, without HTTP, signature or group commit.

use std::time::{Duration, Instant};

use anyhow::Result;
use bson::raw::RawDocumentBuf;
use futures::StreamExt;
use hookledger_shared::config::Mongodb;
use hookledger_shared::store::{ConnectOptions, Events, Stores};

use super::figures::Run;

const LIMIT: Duration = Duration::from_secs(30);

/// A ledger of its own.
pub struct Floor {
    stores: Stores,
}

impl Floor {
    /// Makes it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open(uri: &str, database: &str) -> Result<Self> {
        let mongodb = Mongodb {
            uri: uri.to_owned(),
            database: database.to_owned(),
        };
        let stores = Stores::connect(&mongodb, &ConnectOptions::named("bench-floor")).await?;
        stores.preflight(&[Events::wanted()]).await?;
        Ok(Self { stores })
    }

    /// Inserts rows in batches of `size`, `in_flight` of them at a time. The rate is in
    /// rows, the latency of a batch.
    ///
    /// # Errors
    /// When an insert fails.
    pub async fn insert(
        &self,
        rows: &[RawDocumentBuf],
        size: usize,
        in_flight: usize,
    ) -> Result<Run> {
        let started = Instant::now();
        let batches = futures::stream::iter(rows.chunks(size)).map(|batch| async move {
            let asked = Instant::now();
            self.stores.events.insert_many(batch, LIMIT).await?;
            anyhow::Ok(asked.elapsed())
        });
        let mut batches = std::pin::pin!(batches.buffer_unordered(in_flight));
        let mut latencies = Vec::with_capacity(rows.len() / size + 1);
        while let Some(latency) = batches.next().await {
            latencies.push(latency?);
        }
        let took = started.elapsed();
        let mut run = Run::of(latencies, took);
        run.rate = rows.len() as f64 / took.as_secs_f64();
        Ok(run)
    }

    /// Removes it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn close(self) -> Result<()> {
        self.stores.database().drop().await?;
        Ok(())
    }
}
