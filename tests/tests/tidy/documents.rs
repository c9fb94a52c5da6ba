//! What documents may claim: a promise has its test, a link leads somewhere, a page can be
//! found, a documented metric exists.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tree::{self, File};

/// A link, `[text](target)`.
#[derive(Debug, PartialEq, Eq)]
struct Link<'a> {
    text: &'a str,
    target: &'a str,
}

impl Link<'_> {
    /// The test that it names, when its text is the name of one and its target a source file.
    fn test(&self) -> Option<&str> {
        let name = self.text.strip_prefix('`')?.strip_suffix('`')?;
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        (self.target.ends_with(".rs") && name.contains('_') && name.chars().all(word))
            .then_some(name)
    }

    fn is_elsewhere(&self) -> bool {
        self.target.contains("://") || self.target.starts_with("mailto:")
    }
}

/// The links of a document, those in code blocks left out.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for prose in text.split("```").step_by(2) {
        let mut rest = prose;
        while let Some(middle) = rest.find("](") {
            let after = &rest[middle + 2..];
            if let (Some(open), Some(close)) = (rest[..middle].rfind('['), after.find(')')) {
                found.push(Link {
                    text: &rest[open + 1..middle],
                    target: &after[..close],
                });
            }
            rest = after;
        }
    }
    found
}

/// Whether `source` has a test of this name.
pub(crate) fn has_test(source: &str, name: &str) -> bool {
    let declaration = format!("fn {name}(");
    let Some(at) = source.find(&declaration) else {
        return false;
    };
    let line = source[..at].rfind('\n').unwrap_or(0);
    let mut above = source[..line].lines().rev();
    above.find_map(|line| match line.trim() {
        line if line.starts_with("#[") && line.contains("test") => Some(true),
        line if line.starts_with("#[") || line.starts_with("//") => None,
        _ => Some(false),
    }) == Some(true)
}

/// A heading as the part of an address behind `#`.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_');
    kept.collect()
}

fn has_anchor(document: &str, wanted: &str) -> bool {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .any(|anchor| anchor == wanted)
}

/// Where a link of `file` leads, and the part of it that is meant.
fn resolve<'a>(file: &File, link: &'a Link<'_>) -> (std::path::PathBuf, Option<&'a str>) {
    let (path, part) = match link.target.split_once('#') {
        Some((path, part)) => (path, Some(part)),
        None => (link.target, None),
    };
    let from = Path::new(&file.path);
    let relative = match path {
        "" => from.to_owned(),
        _ => from.parent().unwrap().join(path),
    };
    (tree::root().join(relative), part)
}

#[test]
fn every_relative_link_leads_somewhere() {
    for file in tree::files().iter().filter(|file| file.is_markdown()) {
        for link in links(&file.text) {
            if link.is_elsewhere() {
                continue;
            }
            let (path, part) = resolve(file, &link);
            assert!(path.exists(), "{}: {}", file.path, link.target);
            if let Some(part) = part {
                let document = std::fs::read_to_string(&path).unwrap();
                assert!(
                    has_anchor(&document, part),
                    "{}: {}",
                    file.path,
                    link.target
                );
            }
        }
    }
}

#[test]
fn every_test_that_a_document_names_exists() {
    for file in tree::files().iter().filter(|file| file.is_markdown()) {
        for link in links(&file.text) {
            let Some(name) = link.test() else { continue };
            let (path, _) = resolve(file, &link);
            let source = std::fs::read_to_string(path).unwrap();
            assert!(
                has_test(&source, name),
                "{}: {} has no {name}",
                file.path,
                link.target
            );
        }
    }
}

#[test]
fn every_promise_of_the_readme_names_its_tests() {
    let readme = std::fs::read_to_string(tree::root().join("README.md")).unwrap();
    let promises = section(&readme, "## Promises").unwrap();
    let mut count = 0;
    // Numbered: one paragraph each.
    for promise in promises.split("\n\n").filter(|text| is_numbered(text)) {
        count += 1;
        let proven = links(promise).iter().any(|link| link.test().is_some());
        assert!(proven, "no test holds: {promise}");
    }
    assert_eq!(count, 8, "a promise comes or goes on purpose");
}

fn is_numbered(paragraph: &str) -> bool {
    let number = paragraph.trim_start().split_once(". ");
    number.is_some_and(|(number, _)| number.parse::<u8>().is_ok())
}

fn section<'a>(document: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = document.split_once(&format!("\n{heading}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

#[test]
fn the_readme_says_the_two_commands_as_they_are_typed() {
    let readme = std::fs::read_to_string(tree::root().join("README.md")).unwrap();
    for command in ["\ncargo dev demo\n", "\ncargo test --workspace\n"] {
        assert!(readme.contains(command), "{command}");
    }
}

#[test]
fn every_page_is_found_from_the_readme() {
    let files = tree::files();
    let readme = files.iter().find(|file| file.path == "README.md").unwrap();
    let linked: BTreeSet<_> = links(&readme.text)
        .iter()
        .map(|link| link.target.split('#').next().unwrap_or_default().to_owned())
        .collect();
    for file in files.iter().filter(|file| file.is_markdown()) {
        let page = file.path.starts_with("docs/") || !file.path.contains('/');
        let found = file.path == "README.md" || linked.contains(&file.path);
        assert!(!page || found, "{} is linked from nowhere", file.path);
    }
}

#[test]
fn a_link_is_read_and_code_is_not() {
    let text = "See [`a_b`](x/y.rs) and [z](z.md#one-two).\n```\n[no](no.md)\n```\n";
    let found = links(text);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].test(), Some("a_b"));
    assert_eq!((found[1].test(), found[1].target), (None, "z.md#one-two"));
    assert!(has_anchor("# One: two\n", "one-two"));
    assert!(!has_anchor("# One\n", "two"));
}

#[test]
fn only_what_is_marked_as_a_test_is_one() {
    let source =
        "#[test]\nfn a() {}\n\nfn b() {}\n\n#[tokio::test(flavor = \"x\")]\nasync fn c() {}\n";
    assert!(has_test(source, "a") && has_test(source, "c"));
    assert!(!has_test(source, "b") && !has_test(source, "d"));
}
