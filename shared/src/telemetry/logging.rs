//! Logs: one line a fact, to standard error. Pretty for people at a terminal, JSON for
//! machines otherwise. What may stand in a line is the caller's duty: never a body, a
//! secret, a signature or a mail address.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::util::TryInitError;

use crate::config::{Environment, Fault, Faults};

/// The variable that names the format.
pub const FORMAT_VARIABLE: &str = "HOOKLEDGER_LOG_FORMAT";
/// The variable that holds the filter, in the grammar of `tracing_subscriber::EnvFilter`.
pub const FILTER_VARIABLE: &str = "HOOKLEDGER_LOG";
/// What is logged when nothing is said.
pub const DEFAULT_FILTER: &str = "info";

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// How a line is written.
    pub format: Format,
    /// Which lines are written.
    pub filter: String,
}

impl LogSettings {
    /// Reads `HOOKLEDGER_LOG_FORMAT` and `HOOKLEDGER_LOG`.
    ///
    /// # Errors
    /// Names the variable whose value makes no sense.
    pub fn read(environment: &Environment) -> Result<Self, Faults> {
        Self::read_for(environment, io::stderr().is_terminal())
    }

    fn read_for(environment: &Environment, terminal: bool) -> Result<Self, Faults> {
        let mut faults = Vec::new();
        let format = match environment.text(FORMAT_VARIABLE) {
            Some("pretty") => Format::Pretty,
            Some("json") => Format::Json,
            Some(_) => {
                faults.push(Fault::new(
                    FORMAT_VARIABLE,
                    "must be \"json\" or \"pretty\"",
                ));
                Format::Json
            }
            None if terminal => Format::Pretty,
            None => Format::Json,
        };
        let filter = environment.text(FILTER_VARIABLE).unwrap_or(DEFAULT_FILTER);
        if let Err(error) = EnvFilter::try_new(filter) {
            faults.push(Fault::new(
                FILTER_VARIABLE,
                format!("not a log filter: {error}"),
            ));
        }
        if !faults.is_empty() {
            return Err(Faults::from(faults));
        }
        Ok(Self {
            format,
            filter: filter.to_owned(),
        })
    }
}

/// Starts logging for the whole process; to be called once, first thing.
///
/// # Errors
/// When something else has already done so.
pub fn init(settings: &LogSettings) -> Result<(), TryInitError> {
    // `read` has refused what does not parse; `new` would only skip it.
    let registry = tracing_subscriber::registry().with(EnvFilter::new(&settings.filter));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    match settings.format {
        Format::Pretty => registry
            .with(lines.with_ansi(io::stderr().is_terminal()))
            .try_init(),
        Format::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_the_terminal_until_told_otherwise() {
        let silent = Environment::from_pairs::<&str, &str>([]);
        let format = |environment: &Environment, terminal| {
            LogSettings::read_for(environment, terminal).unwrap().format
        };
        assert_eq!(format(&silent, true), Format::Pretty);
        assert_eq!(format(&silent, false), Format::Json);
        let told = Environment::from_pairs([(FORMAT_VARIABLE, "json")]);
        assert_eq!(format(&told, true), Format::Json);
        let told = Environment::from_pairs([(FORMAT_VARIABLE, "pretty")]);
        assert_eq!(format(&told, false), Format::Pretty);
    }

    #[test]
    fn every_wrong_variable_is_named_at_once() {
        let wrong = Environment::from_pairs([(FORMAT_VARIABLE, "xml"), (FILTER_VARIABLE, "a=b=c")]);
        let text = LogSettings::read_for(&wrong, true).unwrap_err().to_string();
        assert!(text.contains("HOOKLEDGER_LOG_FORMAT: "), "{text}");
        assert!(text.contains("HOOKLEDGER_LOG: "), "{text}");
    }
}
