//! The one place where a session starts, and the one retry policy of transactions.
//!
//! A [`Slot`] opens its session *before* the claim; the claim runs on it, its id goes into
//! the lease, and the domain transaction follows on it, causally consistent. With another
//! session a snapshot transaction can miss its own w:1 claim. One deadline stands around
//! the whole: a time-out around a single operation would leave a transaction open that
//! neither drop nor abort ends.

use std::future::Future;
use std::time::Duration;

use bson::{Binary, Document, doc};
use mongodb::error::{Error, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT};
use mongodb::options::{ReadConcern, TransactionOptions};
use mongodb::{Client, ClientSession};

use super::Stores;
use super::error::{StoreError, within};

/// What the body of a transaction wants done with it.
#[derive(Debug)]
pub enum Verdict<T> {
    /// Keep every write.
    Commit(T),
    /// Keep none.
    Abort(T),
}

/// The body of a transaction. It is run again after a conflict, so it reads everything
/// anew and changes nothing outside; every database error it meets it hands back as it is.
pub trait Work {
    /// What it answers.
    type Output: Send;

    /// Runs once.
    fn run(
        &mut self,
        session: &mut ClientSession,
    ) -> impl Future<Output = Result<Verdict<Self::Output>, Error>> + Send;
}

/// A transaction that came to its end.
#[derive(Debug)]
pub struct Ended<T> {
    /// What the body answered.
    pub value: T,
    /// Whether its writes were kept.
    pub committed: bool,
    /// How often the body was run again, because of conflicts or elections.
    pub reruns: u32,
}

/// A transaction without an end that we know of. The slot is spent: its session was killed
/// and the row must be read again before anything is said of it.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// The deadline came first.
    #[error("the transaction did not end within {limit:?} ({reruns} re-runs)")]
    Deadline {
        /// The deadline.
        limit: Duration,
        /// How often the body had been run again.
        reruns: u32,
    },
    /// The commit may or may not have happened.
    #[error("the commit's result is unknown: {0}")]
    Unknown(#[source] Error),
    /// The body or the commit failed, and nothing was written.
    #[error("the transaction failed: {0}")]
    Failed(#[source] Error),
}

/// The longest pause before a re-run; short beside the deadline.
const MAX_PAUSE: Duration = Duration::from_millis(250);
/// The pause before the first re-run grows from here.
const FIRST_PAUSE_MS: f64 = 2.0;

/// A processor's session.
pub struct Slot {
    client: Client,
    session: ClientSession,
    op_timeout: Duration,
    spent: bool,
}

impl Slot {
    /// Opens the session. The only place that does.
    pub async fn open(stores: &Stores) -> Result<Self, StoreError> {
        #[allow(
            clippy::disallowed_methods,
            reason = "the one place where sessions start"
        )]
        let start = stores.client.start_session().causal_consistency(true);
        let session = within(stores.op_timeout, async { start.await }).await?;
        Ok(Self {
            client: stores.client.clone(),
            session,
            op_timeout: stores.op_timeout,
            spent: false,
        })
    }

    /// The session's id as a lease keeps it.
    #[must_use]
    pub fn id(&self) -> Option<Binary> {
        match self.session.id().get("id") {
            Some(bson::Bson::Binary(id)) => Some(id.clone()),
            Some(_) | None => None,
        }
    }

    /// The session, for the claim.
    pub fn session(&mut self) -> &mut ClientSession {
        &mut self.session
    }

    /// Gives the session away, for tests that leave it in a state no slot would.
    #[must_use]
    pub fn into_session(self) -> ClientSession {
        self.session
    }

    /// Whether its session was killed: it must be dropped and another opened.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// Runs `work` in a transaction (snapshot, majority) until it ends or `limit` is over.
    pub async fn in_transaction<W: Work>(
        &mut self,
        limit: Duration,
        work: &mut W,
    ) -> Result<Ended<W::Output>, TransactionError> {
        let mut reruns = 0;
        let ran = run(&mut self.session, work, &mut reruns);
        let ended = match tokio::time::timeout(limit, ran).await {
            Ok(ended) => ended,
            Err(_) => Err(TransactionError::Deadline { limit, reruns }),
        };
        match &ended {
            Ok(_) | Err(TransactionError::Failed(_)) => {}
            Err(TransactionError::Deadline { .. } | TransactionError::Unknown(_)) => {
                self.kill().await;
            }
        }
        ended
    }

    /// Gives the slot up after a panic: whatever its session has open is ended.
    pub async fn abandon(&mut self) {
        self.kill().await;
    }

    /// Kills our own session, so that no transaction of ours stays open on the server. If
    /// this fails too, the rescuer kills it once the lease is over.
    async fn kill(&mut self) {
        self.spent = true;
        let id = self.session.id().clone();
        if let Err(error) = kill_sessions(&self.client, vec![id], self.op_timeout).await {
            tracing::warn!(%error, "could not kill our own session; its lease ends it");
        }
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("spent", &self.spent).finish()
    }
}

/// Ends sessions on the server with whatever they have open. All workers use one database
/// user: another user's `killSessions` answers ok and kills nothing.
pub(crate) async fn kill_sessions(
    client: &Client,
    ids: Vec<Document>,
    limit: Duration,
) -> Result<(), StoreError> {
    let kill = doc! { "killSessions": ids };
    let admin = client.database("admin");
    within(limit, async { admin.run_command(kill).await }).await?;
    Ok(())
}

fn options() -> TransactionOptions {
    // The write concern (majority, journaled, with a time-out) is the client's.
    TransactionOptions::builder()
        .read_concern(ReadConcern::snapshot())
        .build()
}

async fn run<W: Work>(
    session: &mut ClientSession,
    work: &mut W,
    reruns: &mut u32,
) -> Result<Ended<W::Output>, TransactionError> {
    loop {
        let start = session.start_transaction().with_options(options());
        start.await.map_err(TransactionError::Failed)?;
        let error = match work.run(session).await {
            Ok(Verdict::Abort(value)) => {
                abort(session).await;
                return Ok(Ended {
                    value,
                    committed: false,
                    reruns: *reruns,
                });
            }
            Ok(Verdict::Commit(value)) => match commit(session).await {
                Ok(()) => {
                    return Ok(Ended {
                        value,
                        committed: true,
                        reruns: *reruns,
                    });
                }
                Err(TransactionError::Failed(error)) => error,
                Err(
                    unknown @ (TransactionError::Unknown(_) | TransactionError::Deadline { .. }),
                ) => {
                    return Err(unknown);
                }
            },
            Err(error) => {
                abort(session).await;
                error
            }
        };
        if !error.contains_label(TRANSIENT_TRANSACTION_ERROR) {
            return Err(TransactionError::Failed(error));
        }
        *reruns += 1;
        tokio::time::sleep(pause(*reruns, fastrand::f64())).await;
    }
}

/// Commits, again and again while the result is unknown; the deadline around the whole
/// ends that. An error with no label tells nothing either, so it is unknown as well.
async fn commit(session: &mut ClientSession) -> Result<(), TransactionError> {
    let mut tries = 0;
    loop {
        let Err(error) = session.commit_transaction().await else {
            return Ok(());
        };
        if error.contains_label(TRANSIENT_TRANSACTION_ERROR) {
            return Err(TransactionError::Failed(error));
        }
        // The specification says not to repeat a commit that ran out of its own time.
        let out_of_time = super::error::code(&error) == Some(50);
        if out_of_time || !error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) {
            return Err(TransactionError::Unknown(error));
        }
        tries += 1;
        tokio::time::sleep(pause(tries, fastrand::f64())).await;
    }
}

/// Best effort: where it fails, the server has ended the transaction already or will when
/// the session's next one starts.
async fn abort(session: &mut ClientSession) {
    if let Err(error) = session.abort_transaction().await {
        tracing::debug!(%error, "abort was not acknowledged");
    }
}

/// Exponential with full jitter.
fn pause(tries: u32, jitter: f64) -> Duration {
    let exponent = i32::try_from(tries.min(30)).unwrap_or(30);
    let millis = FIRST_PAUSE_MS * 1.5_f64.powi(exponent);
    MAX_PAUSE.mul_f64((millis / 250.0).min(1.0) * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_stay_jittered_and_stay_short() {
        assert_eq!(pause(1, 0.0), Duration::ZERO);
        assert!(pause(1, 1.0) < pause(5, 1.0));
        assert_eq!(pause(u32::MAX, 1.0), MAX_PAUSE);
    }
}
