//! Secrets: references in the file, resolved at boot, hidden wherever something is printed.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::environment::Environment;
use super::fault::{Checked, Faults};

/// No secret is this long; a wrong path to something huge must not fill the memory.
const MAX_BYTES: u64 = 64 * 1024;
/// What a Standard Webhooks secret begins with.
const WHSEC: &str = "whsec_";
/// How many bytes the Standard Webhooks specification asks of a key, at least.
const WHSEC_MIN_BYTES: usize = 24;
/// And at most.
const WHSEC_MAX_BYTES: usize = 64;

/// A secret. Never printed by `Debug` or `Display`; no equality, since comparing secrets
/// with `==` tells by its time where they differ.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret from elsewhere than a reference: tests and development tools.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself. What is done with it stays out of logs and errors.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The key inside a Standard Webhooks secret: `whsec_` and the base64 of 24 to 64
    /// bytes. `None` when it is something else; a sink's secrets have been checked at boot.
    #[must_use]
    pub fn webhook_key(&self) -> Option<Vec<u8>> {
        let key = STANDARD.decode(self.0.strip_prefix(WHSEC)?).ok()?;
        (WHSEC_MIN_BYTES..=WHSEC_MAX_BYTES)
            .contains(&key.len())
            .then_some(key)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Where a secret is kept.
#[derive(Clone, Copy)]
pub(super) enum Reference<'a> {
    Variable(&'a str),
    File(&'a str),
}

impl<'a> Reference<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let variable = text.strip_prefix("env:").map(Self::Variable);
        variable.or_else(|| text.strip_prefix("file:").map(Self::File))
    }

    /// The place's name, when it looks so much like one that it can't be the secret itself
    /// written behind `env:` by mistake.
    pub(super) fn shown(self) -> Option<String> {
        match self {
            Self::Variable(name) => {
                let usual = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
                name.bytes().all(usual).then(|| format!("env:{name}"))
            }
            Self::File(path) => {
                let usual = path.starts_with('/') || path.starts_with("./");
                usual.then(|| format!("file:{path}"))
            }
        }
    }

    fn fetch(self, environment: &Environment) -> Result<String, SecretError> {
        let bytes = match self {
            Self::Variable(name) => {
                let value = environment.get(name).ok_or(SecretError::Unset)?;
                value
                    .to_str()
                    .ok_or(SecretError::NotUtf8)?
                    .as_bytes()
                    .to_vec()
            }
            Self::File(path) => read(path)?,
        };
        let mut text = String::from_utf8(bytes).map_err(|_| SecretError::NotUtf8)?;
        // Editors and `echo` end a file with a newline that nobody means.
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        if text.trim().len() != text.len() {
            return Err(SecretError::OuterSpace);
        }
        Ok(text)
    }
}

/// Why a reference gave no secret. Says nothing of what was found there.
#[derive(Debug, thiserror::Error)]
enum SecretError {
    #[error("the environment variable is not set")]
    Unset,
    #[error("the file can't be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error("is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("is not UTF-8")]
    NotUtf8,
    #[error("is empty")]
    Empty,
    #[error("begins or ends with white space")]
    OuterSpace,
}

fn read(path: &str) -> Result<Vec<u8>, SecretError> {
    let file = File::open(path).map_err(SecretError::Unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(SecretError::Unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(SecretError::TooLong);
    }
    Ok(bytes)
}

/// The secret that `reference`, the value of `key`, leads to.
pub(super) fn resolve(
    key: &str,
    reference: &str,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Secret> {
    let Some(parsed) = Reference::parse(reference) else {
        let rule = "must be a reference, env:NAME or file:PATH, never the secret itself";
        return Err(faults.add(key, rule));
    };
    parsed.fetch(environment).map(Secret).map_err(|error| {
        let place = parsed
            .shown()
            .map(|place| format!("{place}: "))
            .unwrap_or_default();
        faults.add(key, format!("{place}{error}"))
    })
}

/// The secrets that a list of references leads to; at least one.
pub(super) fn resolve_all(
    key: &str,
    references: Vec<(String, &str)>,
    environment: &Environment,
    faults: &mut Faults,
) -> Checked<Vec<Secret>> {
    if references.is_empty() {
        return Err(faults.add(key, "needs at least one env:NAME or file:PATH"));
    }
    let resolved: Vec<_> = references
        .into_iter()
        .map(|(key, reference)| resolve(&key, reference, environment, faults))
        .collect();
    resolved.into_iter().collect()
}
