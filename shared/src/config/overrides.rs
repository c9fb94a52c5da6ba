//! Settings by environment: `HOOKLEDGER__WORKER__LEASE_MS`. Only scalars outside the lists
//! of tables; a variable that begins like a setting but is none is a fault.

use config::Map;

use super::environment::Environment;
use super::fault::Faults;
use super::known::{self, Node};

const PREFIX: &str = "HOOKLEDGER";
const SEPARATOR: &str = "__";

/// The variables that are settings. Those that try to be and aren't are noted as faults.
pub(super) fn collect(environment: &Environment, faults: &mut Faults) -> Map<String, String> {
    let mut found = Map::new();
    let prefix = format!("{PREFIX}{SEPARATOR}");
    for (name, value) in environment.iter() {
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let path: Vec<String> = rest.split(SEPARATOR).map(str::to_lowercase).collect();
        let key = if rest.is_empty() {
            name.to_owned()
        } else {
            path.join(".")
        };
        // `config` would take either, whichever comes last in a map without order.
        let twin = found
            .keys()
            .find(|other: &&String| other.eq_ignore_ascii_case(name));
        if let Some(twin) = twin {
            let reason = format!("is set twice, by {twin} and by {name}; keep one");
            faults.add(key, reason);
            continue;
        }
        match (refusal(&path), value.to_str()) {
            (Some(reason), _) => {
                faults.add(key, format!("{reason} (set by {name})"));
            }
            (None, None) => {
                faults.add(key, format!("is not UTF-8 (set by {name})"));
            }
            (None, Some(value)) => {
                found.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    found
}

/// The `config` crate's reader for what [`collect`] let through.
pub(super) fn source(variables: Map<String, String>) -> config::Environment {
    config::Environment::with_prefix(PREFIX)
        .prefix_separator(SEPARATOR)
        .separator(SEPARATOR)
        .source(Some(variables))
}

/// Why the setting at `path` can't come from the environment.
fn refusal(path: &[String]) -> Option<String> {
    let mut entries = known::ROOT;
    let mut segments = path.iter();
    while let Some(segment) = segments.next() {
        let Some(node) = known::find(entries, segment) else {
            return Some(known::unknown(segment, entries));
        };
        match node {
            Node::Leaf(_) | Node::Later if segments.len() == 0 => return None,
            Node::Leaf(_) => return Some("unknown setting; it holds a value, no table".to_owned()),
            // Merged all the same, for the search in the whole to refuse.
            Node::Later => return None,
            Node::Tables(_) => {
                return Some(format!(
                    "lists of tables, [[{segment}]], can only be set in the file"
                ));
            }
            Node::Table(inner) => entries = inner,
            Node::Named(inner) => {
                // One segment is the free name.
                segments.next();
                entries = inner;
            }
        }
    }
    Some("is a table; name one of its settings".to_owned())
}
