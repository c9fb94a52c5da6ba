//! Typed reading of one table: each method takes a setting by name and either hands back
//! its value or notes the fault. Numbers are next door, in `number.rs`.

use std::str::FromStr;

use config::{Value, ValueKind};

use super::fault::{Checked, Faults};
use super::raw::{Raw, Table};

/// How long a name of a source or a sink may be: it stands in paths, labels and rows.
const MAX_NAME: usize = 64;

/// A table with the key it stands under. One that is missing reads as an empty one.
#[derive(Clone)]
pub(super) struct Area<'a> {
    key: String,
    table: Option<&'a Table>,
}

impl<'a> Area<'a> {
    /// `[name]` at the top level.
    pub(super) fn of(raw: &'a Raw, name: &str) -> Self {
        Self {
            key: name.to_owned(),
            table: raw.root().get(name).and_then(as_table),
        }
    }

    /// Each `[[name]]` at the top level.
    pub(super) fn each(raw: &'a Raw, name: &str) -> Vec<Self> {
        let items = raw.root().get(name).and_then(as_list).unwrap_or_default();
        let area = |(index, item)| Self {
            key: format!("{name}[{index}]"),
            table: as_table(item),
        };
        items.iter().enumerate().map(area).collect()
    }

    /// Each `[name.free]` at the top level with its free name, sorted by it.
    pub(super) fn named(raw: &'a Raw, name: &str) -> Vec<(&'a str, Self)> {
        let Some(table) = raw.root().get(name).and_then(as_table) else {
            return Vec::new();
        };
        let mut areas: Vec<_> = table
            .iter()
            .map(|(free, item)| {
                (
                    free.as_str(),
                    Self {
                        key: format!("{name}.{free}"),
                        table: as_table(item),
                    },
                )
            })
            .collect();
        areas.sort_by_key(|(free, _)| *free);
        areas
    }

    /// The key of a setting in this table.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a ValueKind> {
        self.table?.get(name).map(|value| &value.kind)
    }

    /// Whether something is written there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Text that may be missing. Empty text is refused.
    pub(super) fn text(&self, name: &str, faults: &mut Faults) -> Checked<Option<&'a str>> {
        match self.value(name) {
            None => Ok(None),
            Some(ValueKind::String(text)) if !text.is_empty() => Ok(Some(text)),
            Some(ValueKind::String(_)) => Err(faults.add(self.key(name), "is empty")),
            Some(_) => Err(faults.add(self.key(name), "must be text in quotes")),
        }
    }

    /// Text that must be there.
    pub(super) fn required_text(&self, name: &str, faults: &mut Faults) -> Checked<&'a str> {
        self.text(name, faults)?
            .ok_or_else(|| faults.add(self.key(name), "is missing"))
    }

    /// A url-safe name that must be there.
    pub(super) fn name(&self, name: &str, faults: &mut Faults) -> Checked<String> {
        let text = self.required_text(name, faults)?;
        let safe = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if text.len() <= MAX_NAME && text.bytes().all(safe) {
            return Ok(text.to_owned());
        }
        let rule = format!("must be 1 to {MAX_NAME} of a-z, 0-9, _ and -");
        Err(faults.add(self.key(name), rule))
    }

    /// Text parsed into something else; `what` says what is expected.
    pub(super) fn parsed<T: FromStr>(
        &self,
        name: &str,
        what: &str,
        faults: &mut Faults,
    ) -> Checked<Option<T>> {
        let Some(text) = self.text(name, faults)? else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|_| faults.add(self.key(name), format!("must be {what}")))
    }

    /// A list of texts with the key of each; a missing one reads as an empty one.
    pub(super) fn texts(&self, name: &str, faults: &mut Faults) -> Checked<Vec<(String, &'a str)>> {
        let items = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(ValueKind::Array(items)) => items,
            Some(_) => return Err(faults.add(self.key(name), "must be a list of texts")),
        };
        let text = |(index, item): (usize, &'a Value)| {
            let key = format!("{}[{index}]", self.key(name));
            if let ValueKind::String(text) = &item.kind {
                return Ok((key, text.as_str()));
            }
            Err(faults.add(key, "must be text in quotes"))
        };
        // All of them before giving up, so that every fault is noted.
        let read: Vec<_> = items.iter().enumerate().map(text).collect();
        read.into_iter().collect()
    }

    /// `true` or `false`, or nothing.
    pub(super) fn boolean(&self, name: &str, faults: &mut Faults) -> Checked<Option<bool>> {
        match self.value(name) {
            None => Ok(None),
            Some(ValueKind::Boolean(value)) => Ok(Some(*value)),
            Some(_) => Err(faults.add(self.key(name), "must be true or false")),
        }
    }
}

/// The first of `names` that is there a second time is a fault of the later one.
pub(super) fn unique<'a>(
    names: impl IntoIterator<Item = (String, &'a str)>,
    faults: &mut Faults,
) -> Checked<()> {
    let mut seen: Vec<&str> = Vec::new();
    let mut result = Ok(());
    for (key, name) in names {
        if seen.contains(&name) {
            result = Err(faults.add(key, format!("\"{name}\" is taken by an earlier one")));
        }
        seen.push(name);
    }
    result
}

pub(super) fn as_table(value: &Value) -> Option<&Table> {
    if let ValueKind::Table(table) = &value.kind {
        Some(table)
    } else {
        None
    }
}

pub(super) fn as_list(value: &Value) -> Option<&[Value]> {
    if let ValueKind::Array(items) = &value.kind {
        Some(items)
    } else {
        None
    }
}
