//! What became of the demo's events, and whether that is right.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use bson::{Document, doc};
use futures::TryStreamExt;
use mongodb::Database;

use super::Answers;
use crate::stripe::history::History;

/// A readable account of a demo.
#[derive(Debug, Clone)]
pub struct Account {
    answers: Answers,
    events: usize,
    outcomes: BTreeMap<String, usize>,
    delivered: BTreeMap<String, usize>,
    undelivered: usize,
    user: String,
    entitlement: Document,
    paid_until: i64,
    balance: i64,
    /// Received to applied, in milliseconds, sorted.
    took_ms: Vec<i64>,
}

impl Account {
    /// Reads the end state.
    pub(super) async fn of(
        database: &Database,
        history: &History,
        answers: Answers,
    ) -> Result<Self> {
        let mut account = Self {
            answers,
            events: history.events.len(),
            outcomes: BTreeMap::new(),
            delivered: BTreeMap::new(),
            undelivered: 0,
            user: history.actors.user.clone(),
            entitlement: Document::new(),
            paid_until: history.paid_until,
            balance: 0,
            took_ms: Vec::new(),
        };
        for row in all(database, "events", doc! {}).await? {
            account.count_event(&row);
        }
        for row in all(database, "outbox", doc! {}).await? {
            let topic = row.get_str("topic").unwrap_or("?").to_owned();
            if row.get_str("status").is_ok_and(|status| status == "sent") {
                *account.delivered.entry(topic).or_default() += 1;
            } else {
                account.undelivered += 1;
            }
        }
        let customer = doc! { "customerId": &history.actors.customer };
        let customer = all(database, "customers", customer).await?;
        let customer = customer.first().context("the customer was not recorded")?;
        account.entitlement = customer.get_document("entitlement")?.clone();
        let of_user = doc! { "userId": &history.actors.user };
        for row in all(database, "creditAccounts", of_user).await? {
            account.balance += row.get_i64("balance")?;
        }
        account.took_ms.sort_unstable();
        Ok(account)
    }

    fn count_event(&mut self, row: &Document) {
        let status = row.get_str("status").unwrap_or("?");
        let outcome = row.get_str("outcome").unwrap_or(status).to_owned();
        *self.outcomes.entry(outcome).or_default() += 1;
        if let (Ok(received), Ok(processed)) = (
            row.get_datetime("receivedAt"),
            row.get_datetime("processedAt"),
        ) {
            let took = processed.timestamp_millis() - received.timestamp_millis();
            self.took_ms.push(took);
        }
    }

    /// What is not as it must be; nothing when all is right.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut must = |holds: bool, what: String| {
            if !holds {
                faults.push(what);
            }
        };
        let Answers { stored, duplicates } = self.answers;
        must(
            stored == self.events,
            format!("{stored} events stored, not {}", self.events),
        );
        must(
            duplicates == self.events,
            format!("{duplicates} duplicates, not {}", self.events),
        );
        let dead = self.outcomes.get("dead").copied().unwrap_or(0);
        must(dead == 0, format!("{dead} dead letters"));
        must(
            self.undelivered == 0,
            format!("{} messages not delivered", self.undelivered),
        );
        let entitled = self.entitlement.get_bool("entitled").unwrap_or(false);
        must(entitled, "the customer is not entitled".to_owned());
        must(
            self.until() == Some(self.paid_until),
            format!("entitled until {:?}, not {}", self.until(), self.paid_until),
        );
        must(
            self.balance == 100,
            format!("{} credits, not 100", self.balance),
        );
        // A receipt for the subscription's first invoice, and one for the credits.
        for (topic, due) in [
            ("entitlement.changed", 1),
            ("welcome", 1),
            ("credits.granted", 1),
            ("email.receipt", 2),
        ] {
            let count = self.delivered.get(topic).copied().unwrap_or(0);
            must(
                count == due,
                format!("{topic} delivered {count} times, not {due}"),
            );
        }
        faults
    }

    /// Unix seconds.
    fn until(&self) -> Option<i64> {
        let until = self.entitlement.get_datetime("until").ok()?;
        Some(until.timestamp_millis() / 1_000)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers { stored, duplicates } = self.answers;
        writeln!(f, "ingest")?;
        writeln!(
            f,
            "  received      {:>4}  all answered 200, in any order",
            stored + duplicates
        )?;
        writeln!(f, "  stored        {stored:>4}")?;
        writeln!(f, "  duplicates    {duplicates:>4}")?;
        writeln!(f, "worker")?;
        for (outcome, count) in &self.outcomes {
            writeln!(f, "  {outcome:<12}  {count:>4}")?;
        }
        if let (Some(middle), Some(last)) = (
            self.took_ms.get(self.took_ms.len() / 2),
            self.took_ms.last(),
        ) {
            writeln!(
                f,
                "  received to applied: {middle} ms in the middle, {last} ms at most"
            )?;
        }
        writeln!(f, "outbox, delivered")?;
        for (topic, count) in &self.delivered {
            writeln!(f, "  {topic:<22}  {count:>4}")?;
        }
        writeln!(f, "{}", self.user)?;
        let plan = self.entitlement.get_str("plan").unwrap_or("?");
        let status = self.entitlement.get_str("status").unwrap_or("none");
        let until = self.entitlement.get_datetime("until").ok();
        let until = until.and_then(|until| until.try_to_rfc3339_string().ok());
        writeln!(
            f,
            "  entitlement   {status}, plan {plan}, until {}",
            until.as_deref().unwrap_or("?")
        )?;
        write!(f, "  credits       {}", self.balance)
    }
}

async fn all(database: &Database, collection: &str, filter: Document) -> Result<Vec<Document>> {
    let rows = database.collection::<Document>(collection);
    Ok(rows.find(filter).await?.try_collect().await?)
}
