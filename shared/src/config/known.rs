//! Every setting there is, with how its value may be shown, and the search for keys that
//! are none of them. What a setting means is with the struct of its area.

use super::fault::Faults;
use super::nearest::suggestion;
use super::raw::Table;
use config::{Value, ValueKind};

/// A place in the configuration.
pub(super) enum Node {
    /// One value, or a list of values.
    Leaf(Show),
    /// `[area]`
    Table(&'static [Entry]),
    /// `[[area]]`
    Tables(&'static [Entry]),
    /// `[area.any_name]`
    Named(&'static [Entry]),
    /// A name that is taken, for something that doesn't work yet.
    Later,
}

/// How a value may be shown to people.
#[derive(Clone, Copy)]
pub(super) enum Show {
    /// As it is.
    Plain,
    /// `env:NAME` or `file:PATH`; anything else may be the secret itself.
    Reference,
    /// MongoDB's: without credentials, and a [`Show::Reference`] as well.
    ConnectionString,
    /// Without credentials and query.
    Url,
}

pub(super) type Entry = (&'static str, Node);

const PLAIN: Node = Node::Leaf(Show::Plain);
const REFERENCE: Node = Node::Leaf(Show::Reference);

/// The whole configuration.
pub(super) const ROOT: &[Entry] = &[
    (
        "mongodb",
        Node::Table(&[
            ("uri", Node::Leaf(Show::ConnectionString)),
            ("database", PLAIN),
        ]),
    ),
    (
        "ingest",
        Node::Table(&[
            ("bind", PLAIN),
            ("ops_bind", PLAIN),
            ("max_body_bytes", PLAIN),
            ("commit_timeout_ms", PLAIN),
        ]),
    ),
    (
        "source",
        Node::Tables(&[
            ("name", PLAIN),
            ("provider", PLAIN),
            ("secrets", REFERENCE),
            ("tolerance_s", PLAIN),
            ("livemode", PLAIN),
            ("scope", PLAIN),
            ("commit_timeout_ms", PLAIN),
            ("max_body_bytes", PLAIN),
            ("public_url", Node::Leaf(Show::Url)),
        ]),
    ),
    (
        "worker",
        Node::Table(&[
            ("ops_bind", PLAIN),
            ("ops_token", REFERENCE),
            ("concurrency", PLAIN),
            ("lease_ms", PLAIN),
            ("max_attempts", PLAIN),
            ("settle_ms", PLAIN),
            ("retention_days", PLAIN),
        ]),
    ),
    (
        "stripe",
        Node::Table(&[("api_key", Node::Later), ("api_base", Node::Later)]),
    ),
    (
        "catalogue",
        Node::Named(&[("credits", PLAIN), ("amount", PLAIN), ("currency", PLAIN)]),
    ),
    (
        "metadata",
        Node::Table(&[
            ("user_id", PLAIN),
            ("plan", PLAIN),
            ("purchase_id", PLAIN),
            ("sku", PLAIN),
            ("quantity", PLAIN),
        ]),
    ),
    (
        "sink",
        Node::Tables(&[
            ("name", PLAIN),
            ("kind", PLAIN),
            ("url", Node::Leaf(Show::Url)),
            ("secrets", REFERENCE),
            ("allow_private", PLAIN),
        ]),
    ),
    (
        "route",
        Node::Tables(&[("topic", PLAIN), ("sinks", PLAIN), ("ordered", Node::Later)]),
    ),
    ("forward", Node::Later),
];

/// Every setting as the documentation writes it: `worker.lease_ms`, `source[].name`,
/// `catalogue.*.credits`; with those that are refused for now.
#[must_use]
pub fn settings() -> Vec<String> {
    fn walk(prefix: &str, entries: &[Entry], found: &mut Vec<String>) {
        for (name, node) in entries {
            let key = format!("{prefix}{name}");
            match node {
                Node::Leaf(_) | Node::Later => found.push(key),
                Node::Table(inner) => walk(&format!("{key}."), inner, found),
                Node::Tables(inner) => walk(&format!("{key}[]."), inner, found),
                Node::Named(inner) => walk(&format!("{key}.*."), inner, found),
            }
        }
    }
    let mut found = Vec::new();
    walk("", ROOT, &mut found);
    found
}

/// Notes every key that is unknown, not yet supported, or of the wrong shape.
pub(super) fn check(root: &Table, faults: &mut Faults) {
    check_table("", root, ROOT, faults);
}

fn check_table(prefix: &str, table: &Table, entries: &[Entry], faults: &mut Faults) {
    // Sorted, since the map's order differs from run to run.
    let mut names: Vec<_> = table.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    for (name, value) in names {
        let key = format!("{prefix}{name}");
        match find(entries, name) {
            Some(node) => check_node(&key, value, node, faults),
            None => {
                faults.add(key, unknown(name, entries));
            }
        }
    }
}

fn check_node(key: &str, value: &Value, node: &Node, faults: &mut Faults) {
    match (node, &value.kind) {
        (Node::Leaf(_), _) => {}
        (Node::Later, _) => {
            faults.add(key, NOT_YET);
        }
        (Node::Table(entries), ValueKind::Table(table)) => {
            check_table(&format!("{key}."), table, entries, faults);
        }
        (Node::Tables(entries), ValueKind::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let key = format!("{key}[{index}]");
                match &item.kind {
                    ValueKind::Table(table) => {
                        check_table(&format!("{key}."), table, entries, faults);
                    }
                    _ => {
                        faults.add(key, "must be a table");
                    }
                }
            }
        }
        (Node::Named(entries), ValueKind::Table(table)) => {
            let mut names: Vec<_> = table.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            for (name, item) in names {
                check_node(
                    &format!("{key}.{name}"),
                    item,
                    &Node::Table(entries),
                    faults,
                );
            }
        }
        (Node::Table(_) | Node::Named(_), _) => {
            faults.add(key, format!("must be a table, [{key}]"));
        }
        (Node::Tables(_), _) => {
            faults.add(key, format!("must be a list of tables, [[{key}]]"));
        }
    }
}

/// What is said of a known name that does nothing yet.
pub(super) const NOT_YET: &str = "not yet supported";

/// The node called `name`.
pub(super) fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Node> {
    entries
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, node)| node)
}

/// What is said of an unknown name among `entries`.
pub(super) fn unknown(name: &str, entries: &[Entry]) -> String {
    format!(
        "unknown setting; {}",
        suggestion(name, entries.iter().map(|(known, _)| *known))
    )
}
