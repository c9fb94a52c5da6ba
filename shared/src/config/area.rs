//! Typed reading of one table: each method takes a setting by name and either hands back
//! its value or notes the fault.

use std::str::FromStr;
use std::time::Duration;

use config::{Value, ValueKind};

use super::fault::{Checked, Faults};
use super::raw::{Raw, Table};

/// How long a name of a source or a sink may be: it stands in paths, labels and rows.
const MAX_NAME: usize = 64;

/// The range of a number and what it is without being set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) unit: &'static str,
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) default: i64,
}

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

    /// The key of a setting in this table, or of the table itself.
    pub(super) fn key(&self, name: &str) -> String {
        if name.is_empty() {
            self.key.clone()
        } else {
            format!("{}.{name}", self.key)
        }
    }

    fn value(&self, name: &str) -> Option<&'a ValueKind> {
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
            match &item.kind {
                ValueKind::String(text) => Ok((key, text.as_str())),
                _ => Err(faults.add(key, "must be text in quotes")),
            }
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

    /// A whole number within its limits. Text of digits counts too: from the environment
    /// everything is text.
    pub(super) fn integer(&self, name: &str, limits: &Limits, faults: &mut Faults) -> Checked<i64> {
        let number = match self.value(name) {
            None => return Ok(limits.default),
            Some(ValueKind::I64(number)) => Some(*number),
            Some(ValueKind::String(text)) => text.parse().ok(),
            Some(_) => None,
        };
        let Limits { unit, min, max, .. } = limits;
        match number {
            Some(number) if (*min..=*max).contains(&number) => Ok(number),
            Some(number) => {
                let range = format!("{number} is not within {min} to {max} {unit}");
                Err(faults.add(self.key(name), range.trim_end()))
            }
            None => {
                let rule = format!("must be a whole number from {min} to {max} {unit}");
                Err(faults.add(self.key(name), rule.trim_end()))
            }
        }
    }

    /// A whole number that has no default.
    pub(super) fn required_integer(
        &self,
        name: &str,
        limits: &Limits,
        faults: &mut Faults,
    ) -> Checked<i64> {
        if self.has(name) {
            return self.integer(name, limits, faults);
        }
        Err(faults.add(self.key(name), "is missing"))
    }

    /// A number of things or bytes. Limits keep it far from what `usize` can't hold.
    pub(super) fn size(&self, name: &str, limits: &Limits, faults: &mut Faults) -> Checked<usize> {
        let number = self.integer(name, limits, faults)?;
        Ok(usize::try_from(number).unwrap_or_default())
    }

    /// A time in milliseconds.
    pub(super) fn millis(
        &self,
        name: &str,
        limits: &Limits,
        faults: &mut Faults,
    ) -> Checked<Duration> {
        Ok(Duration::from_millis(
            self.integer(name, limits, faults)?.unsigned_abs(),
        ))
    }

    /// A time in units of `seconds`.
    pub(super) fn seconds(
        &self,
        name: &str,
        seconds: u64,
        limits: &Limits,
        faults: &mut Faults,
    ) -> Checked<Duration> {
        Ok(Duration::from_secs(
            self.integer(name, limits, faults)?.unsigned_abs() * seconds,
        ))
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

fn as_table(value: &Value) -> Option<&Table> {
    if let ValueKind::Table(table) = &value.kind {
        Some(table)
    } else {
        None
    }
}

fn as_list(value: &Value) -> Option<&[Value]> {
    if let ValueKind::Array(items) = &value.kind {
        Some(items)
    } else {
        None
    }
}
