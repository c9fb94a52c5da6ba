//! What was read, for people: TOML again, with every secret hidden.

use super::address::masked_url;
use super::known::{Entry, Node, ROOT, Show, find};
use super::mongodb::masked;
use super::raw::{Raw, Table};
use super::secret::Reference;
use config::{Value, ValueKind};

const HIDDEN: &str = "***";

/// What file and environment say, as TOML. References to secrets are shown, secrets never;
/// keys that are unknown are left out, since nobody knows what their values are.
#[must_use]
pub fn show(raw: &Raw) -> String {
    let table = shown_table(raw.root(), ROOT);
    // Serialising a table of plain values has no way to fail that could be acted upon.
    let text = toml::to_string(&table).unwrap_or_else(|error| format!("# {error}\n"));
    format!("# {}\n{text}", raw.origin())
}

fn shown_table(table: &Table, entries: &[Entry]) -> toml::Table {
    table
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), shown(value, find(entries, name)?)?)))
        .collect()
}

fn shown(value: &Value, node: &Node) -> Option<toml::Value> {
    match (node, &value.kind) {
        (Node::Leaf(show), _) => Some(shown_leaf(value, *show)),
        (Node::Later, _) => Some(text(HIDDEN)),
        (Node::Table(entries), ValueKind::Table(table)) => {
            Some(toml::Value::Table(shown_table(table, entries)))
        }
        (Node::Tables(entries), ValueKind::Array(items)) => {
            let item = |item: &Value| shown(item, &Node::Table(entries));
            Some(toml::Value::Array(items.iter().filter_map(item).collect()))
        }
        (Node::Named(entries), ValueKind::Table(table)) => {
            let item = |(name, item): (&String, &Value)| {
                Some((name.clone(), shown(item, &Node::Table(entries))?))
            };
            Some(toml::Value::Table(table.iter().filter_map(item).collect()))
        }
        // Of the wrong shape, which is a fault elsewhere.
        (Node::Table(_) | Node::Tables(_) | Node::Named(_), _) => None,
    }
}

fn shown_leaf(value: &Value, show: Show) -> toml::Value {
    match &value.kind {
        ValueKind::Array(items) => {
            toml::Value::Array(items.iter().map(|item| shown_leaf(item, show)).collect())
        }
        ValueKind::String(value) => text(&shown_text(value, show)),
        ValueKind::I64(number) => toml::Value::Integer(*number),
        ValueKind::Float(number) => toml::Value::Float(*number),
        ValueKind::Boolean(value) => toml::Value::Boolean(*value),
        // Kinds that no setting takes.
        ValueKind::Nil
        | ValueKind::I128(_)
        | ValueKind::U64(_)
        | ValueKind::U128(_)
        | ValueKind::Table(_) => text(HIDDEN),
    }
}

fn shown_text(value: &str, show: Show) -> String {
    let reference = || Reference::parse(value).map(|it| it.shown().unwrap_or(HIDDEN.to_owned()));
    match show {
        Show::Plain => value.to_owned(),
        Show::Reference => reference().unwrap_or(HIDDEN.to_owned()),
        Show::ConnectionString => reference().unwrap_or_else(|| masked(value)),
        Show::Url => value
            .parse()
            .map_or(HIDDEN.to_owned(), |url| masked_url(&url)),
    }
}

fn text(value: &str) -> toml::Value {
    toml::Value::String(value.to_owned())
}
