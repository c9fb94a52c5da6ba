//! Numbers of a table: each within its limits, and each limit with its unit.

use std::time::Duration;

use config::ValueKind;

use super::area::Area;
use super::fault::{Checked, Faults};

/// The range of a number and what it is without being set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) unit: &'static str,
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) default: i64,
}

impl Area<'_> {
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
