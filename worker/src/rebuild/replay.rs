//! Takes the ledger into a fold: all of it once, and then, as often as wanted, whatever has
//! come to its end since. Order does not matter, so a row that is taken late, or twice,
//! changes nothing but what it says.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use bson::oid::ObjectId;
use bson::raw::RawDocumentBuf;
use hookledger_shared::clock;
use hookledger_shared::config::Catalogue;

use super::knots::{self, About};
use super::row::{Role, Row};
use super::{PROVIDER, Rebuild, RebuildError};
use crate::fold::Fold;
use crate::handler::{Decision, Family, Input, RejectKind, Rules};

/// Rows a page: bodies of a few kilobytes each, and of a megabyte at most.
const PAGE: i64 = 200;
/// Ids a page.
const IDS: i64 = 10_000;
/// How far back a catch-up looks for rows that came in after the first pass had gone by:
/// ids are made by several machines, whose clocks disagree.
const OVERLAP: Duration = Duration::from_secs(600);
/// How often progress is said, in rows.
const SAY_EVERY: u64 = 50_000;

/// A row that can't be replayed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unreadable {
    /// The event's id, as far as it can be read.
    pub(super) event: String,
    /// Why, without what stands there.
    pub(super) why: String,
}

/// The fold, and how far it has come.
pub(super) struct Replay {
    pub(super) fold: Fold,
    /// Rows taken in.
    pub(super) rows: u64,
    pub(super) unreadable: BTreeSet<Unreadable>,
    /// What the unreadable rows are about.
    pub(super) unreadable_ids: BTreeSet<String>,
    /// Objects that were made before the ledger begins.
    pub(super) older: BTreeSet<String>,
    /// Sessions and payments whose pack the catalogue does not have any more.
    pub(super) retired: BTreeSet<String>,
    /// The first row that can expire.
    first: ObjectId,
    /// Rows from here on are looked for again.
    from: ObjectId,
    /// What is known of rows after `from`.
    seen: HashSet<ObjectId>,
    /// Rows of which more may come, with what they counted for.
    open: Vec<(ObjectId, Role)>,
    rules: Rules,
    /// The same, with no pack at all: for those that were of an unknown one.
    no_packs: Rules,
}

impl Replay {
    pub(super) async fn start(rebuild: &Rebuild<'_>) -> Result<Self, RebuildError> {
        let now = clock::now().timestamp_millis();
        let first = rebuild.stores.events.first().await?;
        let overlap = i64::try_from(OVERLAP.as_millis()).unwrap_or(i64::MAX);
        Ok(Self {
            fold: Fold::default(),
            rows: 0,
            unreadable: BTreeSet::new(),
            unreadable_ids: BTreeSet::new(),
            older: BTreeSet::new(),
            retired: BTreeSet::new(),
            first: first.unwrap_or_else(|| id_at(now)),
            from: id_at(now.saturating_sub(overlap)),
            seen: HashSet::new(),
            open: Vec::new(),
            rules: rebuild.rules.clone(),
            no_packs: Rules {
                catalogue: Catalogue::default(),
                ..rebuild.rules.clone()
            },
        })
    }

    /// How many documents the fold has come to.
    pub(super) fn documents(&self) -> usize {
        let of = |kept: &super::kept::Kept| (kept.fold)(&self.fold).count();
        super::kept::KEPT.iter().map(of).sum()
    }

    /// How long ago the ledger begins.
    pub(super) fn age(&self) -> Duration {
        let begins = self.first.timestamp().timestamp_millis();
        let age = clock::now().timestamp_millis().saturating_sub(begins);
        Duration::from_millis(u64::try_from(age).unwrap_or(0))
    }

    /// The whole ledger, once.
    pub(super) async fn first_pass(&mut self, rebuild: &Rebuild<'_>) -> Result<(), RebuildError> {
        let events = &rebuild.stores.events;
        let (mut after, mut said) = (id_at(0), 0);
        loop {
            let page = events.rows_after(PROVIDER, after, PAGE).await?;
            let last = page.last().and_then(|row| row.get_object_id("_id").ok());
            let Some(last) = last else { break };
            after = last;
            for raw in &page {
                self.take(raw);
            }
            if self.rows / SAY_EVERY > said {
                said = self.rows / SAY_EVERY;
                (rebuild.progress)(&format!("replayed {} events", self.rows));
            }
        }
        (rebuild.progress)(&format!("replayed {} events", self.rows));
        Ok(())
    }

    /// Whatever has come to its end since.
    pub(super) async fn catch_up(&mut self, rebuild: &Rebuild<'_>) -> Result<(), RebuildError> {
        let events = &rebuild.stores.events;
        let open: Vec<_> = std::mem::take(&mut self.open);
        let mut after = self.from;
        let mut ids: Vec<_> = open.iter().map(|(id, _)| *id).collect();
        loop {
            let page = events.ids_after(after, IDS).await?;
            let Some(last) = page.last() else { break };
            after = *last;
            ids.extend(page.iter().filter(|id| !self.seen.contains(*id)));
        }
        let known: std::collections::HashMap<_, _> = open.into_iter().collect();
        for some in ids.chunks(usize::try_from(PAGE).unwrap_or(1)) {
            for raw in events.rows_of(PROVIDER, some).await? {
                let Some(row) = Row::read(&raw) else { continue };
                match known.get(&row.id) {
                    Some(role) if *role == row.role => self.keep_open(&row),
                    Some(_) | None => self.take_row(&raw, row),
                }
            }
            // What is no row of this provider is never asked for again.
            self.seen.extend(some.iter().filter(|id| **id > self.from));
        }
        Ok(())
    }

    fn keep_open(&mut self, row: &Row) {
        if !row.is_final {
            self.open.push((row.id, row.role));
        }
    }

    fn take(&mut self, raw: &RawDocumentBuf) {
        if let Some(row) = Row::read(raw) {
            self.take_row(raw, row);
        }
    }

    fn take_row(&mut self, raw: &RawDocumentBuf, row: Row) {
        if row.id > self.from {
            self.seen.insert(row.id);
        }
        self.keep_open(&row);
        let (given_up, recorded_without) = match row.role {
            Role::Applied => (false, false),
            Role::Recorded(RejectKind::UnknownSku) => (true, true),
            Role::Recorded(
                RejectKind::AmountMismatch | RejectKind::UnlinkedPurchase | RejectKind::Unreadable,
            ) => (true, false),
            Role::Open | Role::Done => return,
        };
        self.rows += 1;
        let event = match row.event {
            Ok(event) => event,
            Err(why) => return self.note_unreadable(raw, row.name, why),
        };
        if Family::of_row(&event).is_none() {
            return;
        }
        let rules = if recorded_without {
            &self.no_packs
        } else {
            &self.rules
        };
        match Input::read(&event, rules) {
            Ok(input) => {
                let about = About::read(&input.event.book, event.body.as_bytes());
                let mut retired = false;
                let mut taken = std::mem::take(&mut self.fold);
                // Whatever was given up had waited long enough for what might explain it.
                let now = if given_up {
                    clock::now()
                } else {
                    event.received_at
                };
                taken.take(input, rules, now, |_, _, decision| {
                    retired |= is_unknown(decision);
                });
                self.fold = taken;
                if retired && !recorded_without {
                    self.retired.extend(about.sale());
                }
                if about.created.is_none_or(|created| created < self.begins()) {
                    self.older.extend(about.ids);
                }
            }
            Err(rejection) => self.note_unreadable(raw, row.name, rejection.message),
        }
    }

    /// The provider's second in which the ledger begins.
    fn begins(&self) -> i64 {
        self.first.timestamp().timestamp_millis().div_euclid(1_000)
    }

    fn note_unreadable(&mut self, raw: &RawDocumentBuf, event: String, why: String) {
        self.unreadable_ids.extend(knots::of_row(raw));
        self.unreadable.insert(Unreadable { event, why });
    }
}

/// Whether the catalogue has no such pack.
fn is_unknown(decision: &Decision) -> bool {
    match decision {
        Decision::Reject(rejection) => rejection.kind == RejectKind::UnknownSku,
        Decision::Apply(_) | Decision::Stale(_) | Decision::Defer { .. } => false,
    }
}

/// The least id of a millisecond.
fn id_at(millis: i64) -> ObjectId {
    let seconds = u32::try_from(millis.div_euclid(1_000)).unwrap_or(0);
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&seconds.to_be_bytes());
    ObjectId::from_bytes(bytes)
}
