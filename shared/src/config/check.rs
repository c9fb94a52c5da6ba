//! The search for keys that are no settings, at any depth.

use config::{Value, ValueKind};

use super::area::as_table;
use super::fault::Faults;
use super::known::{Entry, NOT_YET, Node, ROOT, find, unknown};
use super::raw::Table;

/// Notes every key that is unknown, not yet supported, or of the wrong shape.
pub(super) fn check_all(root: &Table, faults: &mut Faults) {
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
                match as_table(item) {
                    Some(table) => check_table(&format!("{key}."), table, entries, faults),
                    None => {
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
