//! The process environment, read once. Everything that depends on a variable takes this
//! as an argument, so that tests bring their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// A copy of the environment's variables.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// The environment of this process as it is now. Variables whose names are not UTF-8
    /// are left out: no setting or reference can name them.
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the place the ban points to"
    )]
    pub fn from_process() -> Self {
        let named = std::env::vars_os();
        Self(
            named
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
        )
    }

    /// An environment made of `pairs`.
    pub fn from_pairs<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<OsString>,
    {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// A variable's value as it is; `None` when unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str)
    }

    /// A variable's value as text; `None` when unset. One that is not UTF-8 comes out as
    /// the replacement character alone, which nothing accepts as a value.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .map(|value| value.to_str().unwrap_or("\u{fffd}"))
    }

    /// All variables by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_os_str()))
    }
}

/// Names only: any value may be a secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
