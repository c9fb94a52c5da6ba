//! Every setting there is, with how its value may be shown. What one means is with the
//! struct of its area; the search for keys that are none of these is in `check.rs`.

use super::nearest::suggestion;

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
        Node::Table(&[("api_key", REFERENCE), ("api_base", Node::Leaf(Show::Url))]),
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
