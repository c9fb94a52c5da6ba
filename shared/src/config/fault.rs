//! What is wrong with a configuration: every fault names its key, and all of them are
//! reported at once. A fault never repeats the value of a secret.

use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The setting, as it is written: `worker.lease_ms`, `source[0].secrets[1]` (counted
    /// from 0), or the variable or file for what is no setting.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

impl Fault {
    /// A fault of `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Everything that is wrong, one line a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

/// Proof that a fault has been noted: only [`Faults::add`] makes one, so a reader that
/// hands back `Err(Faulty)` can't fail silently.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faulty(());

/// A setting that was read, or the proof that its fault is noted.
pub(super) type Checked<T> = Result<T, Faulty>;

impl Faults {
    /// What a process ends with when its configuration is wrong.
    pub const EXIT_CODE: u8 = 64;

    /// The faults, in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }

    /// Notes a fault.
    pub(super) fn add(&mut self, key: impl Into<String>, message: impl Into<String>) -> Faulty {
        self.0.push(Fault::new(key, message));
        Faulty(())
    }

    /// What was read, unless anything at all is wrong.
    pub(super) fn or<T>(self, read: Checked<T>) -> Result<T, Self> {
        match read {
            Ok(value) if self.0.is_empty() => Ok(value),
            Ok(_) | Err(Faulty(())) => Err(self),
        }
    }
}

impl From<Vec<Fault>> for Faults {
    fn from(faults: Vec<Fault>) -> Self {
        Self(faults)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
