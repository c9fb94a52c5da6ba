//! The file and the environment, merged and searched for unknown keys, but not yet read:
//! each process reads its own areas from here.

use std::fmt;
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat, Value};

use super::environment::Environment;
use super::fault::Faults;
use super::{check, overrides};

/// A table of values as the `config` crate keeps it.
pub(super) type Table = config::Map<String, Value>;

/// The variable that names the file.
pub const FILE_VARIABLE: &str = "HOOKLEDGER_CONFIG";
/// The file that is read, when it exists, if nothing names one.
pub const DEFAULT_FILE: &str = "hookledger.toml";

/// What was written, by file and environment.
///
/// Holds the faults of unknown keys too, so that they are reported together with those of
/// the area that is read.
pub struct Raw {
    root: Table,
    file: Option<PathBuf>,
    overridden: usize,
    faults: Faults,
}

impl Raw {
    /// Reads the file at `path`, else the one that `HOOKLEDGER_CONFIG` names, else
    /// `./hookledger.toml` if there is one; then lays the environment over it.
    ///
    /// # Errors
    /// When a named file can't be read or is not TOML. Faults of single keys come from the
    /// `read` of the area's settings, all together.
    pub fn load(path: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let Some(file) = choose(path, environment) else {
            return Self::merge(None, "", environment);
        };
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::merge(Some(file), &text, environment),
            Err(error) => {
                faults.add(
                    file.display().to_string(),
                    format!("can't be read: {error}"),
                );
                Err(faults)
            }
        }
    }

    /// The same from a text, as tests and tools have it.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn from_text(text: &str, environment: &Environment) -> Result<Self, Faults> {
        Self::merge(None, text, environment)
    }

    fn merge(file: Option<PathBuf>, text: &str, environment: &Environment) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let name = file
            .as_deref()
            .unwrap_or(Path::new(DEFAULT_FILE))
            .display()
            .to_string();
        if let Err(error) = toml::de::DeTable::parse(text) {
            // Not the error's own display: it quotes the line, which may hold a password.
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            faults.add(name, format!("line {line}: {}", error.message()));
            return Err(faults);
        }
        let overrides = overrides::collect(environment, &mut faults);
        let overridden = overrides.len();
        let merged = Config::builder()
            .add_source(File::from_str(text, FileFormat::Toml))
            .add_source(overrides::source(overrides))
            .build()
            .and_then(|config| config.cache.into_table());
        let Ok(root) = merged else {
            // The text parsed, so what is left is a number or date out of range; the error
            // is not shown, for the same reason as above.
            faults.add(name, "holds a value that is out of range");
            return Err(faults);
        };
        check::check_all(&root, &mut faults);
        Ok(Self {
            root,
            file,
            overridden,
            faults,
        })
    }

    /// All values.
    pub(super) fn root(&self) -> &Table {
        &self.root
    }

    /// The faults found so far, for a reader to add to.
    pub(super) fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// Where it was read from, in words.
    pub(super) fn origin(&self) -> String {
        let file = match &self.file {
            Some(path) => path.display().to_string(),
            None => "no file".to_owned(),
        };
        format!("{file}, {} set by the environment", self.overridden)
    }
}

/// Where it came from only: any value may hold a secret.
impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw")
            .field("origin", &self.origin())
            .finish_non_exhaustive()
    }
}

fn choose(path: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
    let named = path.map(Path::to_owned);
    let named = named.or_else(|| environment.get(FILE_VARIABLE).map(PathBuf::from));
    named.or_else(|| {
        Path::new(DEFAULT_FILE)
            .exists()
            .then(|| PathBuf::from(DEFAULT_FILE))
    })
}

/// The line, counted from 1, that the byte at `offset` is on.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text
        .bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
}
