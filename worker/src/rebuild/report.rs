//! What a rebuild found, for people and for programs. Names collections, keys and fields;
//! of values only counts, yes or no, and words of states.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::compare::{Difference, Field};
use super::kept::Unit;
use super::replay::{Replay, Unreadable};
use super::settle::Lasting;
use super::verdict::Reason;

/// What became of what differed.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) differences: Vec<Lasting>,
    pub(super) untold: Vec<(Unit, Reason)>,
    pub(super) moving: Vec<Unit>,
    pub(super) repaired: BTreeSet<(&'static str, String)>,
}

impl Outcome {
    /// Everything that differed and is not among those left.
    pub(super) fn mark_repaired(&mut self, left: &[Unit]) {
        let left: BTreeSet<_> = left.iter().map(Unit::name).collect();
        let found = self.differences.iter().map(|one| one.unit.name());
        self.repaired = found.filter(|name| !left.contains(name)).collect();
    }
}

/// The whole.
#[derive(Debug)]
pub struct Report {
    events: u64,
    documents: usize,
    unreadable: BTreeSet<Unreadable>,
    outcome: Outcome,
}

impl Report {
    pub(super) fn new(replay: &Replay, outcome: Outcome) -> Self {
        Self {
            events: replay.rows,
            documents: replay.documents(),
            unreadable: replay.unreadable.clone(),
            outcome,
        }
    }

    /// Whether the live state is what the ledger says, as far as the ledger can tell: all
    /// that differed was repaired.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        let repaired = self.outcome.repaired.len();
        self.outcome.moving.is_empty() && self.outcome.differences.len() == repaired
    }

    /// For people: at most `shown` lines of each kind, and the counts.
    #[must_use]
    pub fn text(&self, shown: usize) -> String {
        let mut text = String::new();
        let Outcome {
            differences,
            untold,
            moving,
            repaired,
        } = &self.outcome;
        let lines = differences.iter().map(|one| {
            let (collection, key) = one.unit.name();
            let verb = if repaired.contains(&one.unit.name()) {
                "repaired"
            } else {
                "differs "
            };
            format!("{verb}  {collection} {key}: {}", how(&one.difference))
        });
        listed(&mut text, lines, shown, "differences");
        let lines = untold.iter().map(|(unit, reason)| {
            let (collection, key) = unit.name();
            format!("left      {collection} {key}: {}", reason.as_str())
        });
        listed(&mut text, lines, shown, "left as they are");
        let lines = moving.iter().map(|unit| {
            let (collection, key) = unit.name();
            format!("moving    {collection} {key}")
        });
        listed(&mut text, lines, shown, "moving");
        let lines = self.unreadable.iter();
        let lines = lines.map(|row| format!("event     {}: {}", row.event, row.why));
        listed(&mut text, lines, shown, "events that can't be read");
        // Writing to a text can't fail.
        let _ = writeln!(
            text,
            "{} events replayed, {} documents rebuilt: {} differ, {} repaired, {} not rebuildable, {} moving, {} events unreadable",
            self.events,
            self.documents,
            differences.len(),
            repaired.len(),
            untold.len(),
            moving.len(),
            self.unreadable.len(),
        );
        text
    }

    /// For programs: the same, with at most `shown` of each kind.
    #[must_use]
    pub fn json(&self, shown: usize) -> Value {
        let Outcome {
            differences,
            untold,
            moving,
            repaired,
        } = &self.outcome;
        let named = |unit: &Unit| {
            let (collection, key) = unit.name();
            json!({ "collection": collection, "key": key })
        };
        let differences_json = differences.iter().take(shown).map(|one| {
            let mut value = named(&one.unit);
            value["what"] = json!(what(&one.difference));
            value["fields"] = fields(&one.difference).iter().map(field_json).collect();
            value["repaired"] = json!(repaired.contains(&one.unit.name()));
            value
        });
        let untold_json = untold.iter().take(shown).map(|(unit, reason)| {
            let mut value = named(unit);
            value["reason"] = json!(reason.as_str());
            value
        });
        let unreadable = self.unreadable.iter().take(shown);
        let unreadable = unreadable.map(|row| json!({ "event": row.event, "why": row.why }));
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, reason) in untold {
            *reasons.entry(reason.as_str()).or_default() += 1;
        }
        json!({
            "equal": self.is_equal(),
            "events": self.events,
            "documents": self.documents,
            "differences": differences_json.collect::<Vec<_>>(),
            "notRebuildable": untold_json.collect::<Vec<_>>(),
            "moving": moving.iter().take(shown).map(named).collect::<Vec<_>>(),
            "unreadable": unreadable.collect::<Vec<_>>(),
            "counts": {
                "differences": differences.len(),
                "repaired": repaired.len(),
                "notRebuildable": untold.len(),
                "notRebuildableBecause": reasons,
                "moving": moving.len(),
                "unreadable": self.unreadable.len(),
            },
        })
    }
}

fn listed(
    text: &mut String,
    lines: impl ExactSizeIterator<Item = String>,
    shown: usize,
    what: &str,
) {
    let more = lines.len().saturating_sub(shown);
    for line in lines.take(shown) {
        text.push_str(&line);
        text.push('\n');
    }
    if more > 0 {
        let _ = writeln!(text, "          and {more} more {what}");
    }
}

const fn what(difference: &Difference) -> &'static str {
    match difference {
        Difference::Missing => "missing",
        Difference::Extra => "unknown",
        Difference::Fields(_) => "differs",
    }
}

fn fields(difference: &Difference) -> &[Field] {
    match difference {
        Difference::Missing | Difference::Extra => &[],
        Difference::Fields(fields) => fields,
    }
}

fn how(difference: &Difference) -> String {
    let fields = fields(difference);
    if fields.is_empty() {
        return what(difference).to_owned();
    }
    let said = fields
        .iter()
        .map(|field| match (&field.live, &field.rebuilt) {
            (Some(live), Some(rebuilt)) => format!("{} {live}, not {rebuilt}", field.name),
            (Some(_) | None, _) => field.name.clone(),
        });
    said.collect::<Vec<_>>().join("; ")
}

fn field_json(field: &Field) -> Value {
    json!({ "name": field.name, "live": field.live, "rebuilt": field.rebuilt })
}
