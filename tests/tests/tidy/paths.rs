//! Which paths a source file uses: its `use` declarations, taken apart, and what it writes
//! out in full. Not a parser: enough for rules about names.

use std::collections::BTreeSet;

/// All of them, without comments. A path stands in it as it is written, `super` included.
pub(crate) fn used(code: &str) -> BTreeSet<String> {
    let code: Vec<&str> = code.lines().map(without_comment).collect();
    let code = code.join("\n");
    let mut found = BTreeSet::new();
    written_out(&code, &mut found);
    for declaration in code.split("use ").skip(1) {
        let end = declaration.find(';').unwrap_or(0);
        let tree: String = declaration[..end].split_whitespace().collect();
        expand("", &tree, &mut found);
    }
    found
}

/// Whether any of `paths` is `name` or lies in it.
pub(crate) fn within<'a>(paths: &'a BTreeSet<String>, name: &str) -> Option<&'a String> {
    paths.iter().find(|path| is_within(path, name))
}

pub(crate) fn is_within(path: &str, name: &str) -> bool {
    path.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// An address holds `//` as well, but no path worth a rule behind it.
fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

/// Names with `::` between them.
fn written_out(code: &str, found: &mut BTreeSet<String>) {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c| !part(c)) {
        let word = word.trim_end_matches(':');
        if word.contains("::") {
            found.insert(word.to_owned());
        }
    }
}

/// `a::{b, c::{d, e}}` is `a::b`, `a::c::d` and `a::c::e`.
fn expand(before: &str, tree: &str, found: &mut BTreeSet<String>) {
    let Some(open) = tree.find('{') else {
        found.insert(format!("{before}{tree}"));
        return;
    };
    let (head, rest) = tree.split_at(open);
    let before = format!("{before}{head}");
    let inner = rest.trim_start_matches('{').trim_end_matches(',');
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&before, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < inner.len() {
        expand(&before, &inner[start..], found);
    }
}

#[test]
fn a_declaration_in_braces_is_taken_apart() {
    let code = "use a::{b, c::{self, d}, e::f};\npub use g::H;\n";
    let expected = ["a::b", "a::c::d", "a::c::self", "a::e::f", "g::H"];
    let found = used(code);
    assert!(
        expected.iter().all(|path| found.contains(*path)),
        "{found:?}"
    );
}

#[test]
fn a_path_in_full_is_found_and_one_in_a_comment_is_not() {
    let found = used("// see x::y\nlet now = std::time::Instant::now(); // z::z\n");
    assert!(within(&found, "std::time::Instant").is_some());
    assert!(within(&found, "x").is_none() && within(&found, "z").is_none());
}

#[test]
fn a_name_that_only_begins_alike_is_another() {
    let found = used("use tokio_util::codec;\nuse crate::tokio::x;\n");
    assert!(within(&found, "tokio").is_none());
}
