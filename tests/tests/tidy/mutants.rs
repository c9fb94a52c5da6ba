//! The list of mutations can't rot: each finds its text exactly once, and its test exists.

use std::fs;

use hookledger_dev::mutants::{Mutation, list};

use crate::documents::has_test;
use crate::tree::{self, File};

/// Where the test's module is: `a::b::test` in `a/b.rs` or `a/b/mod.rs` or, for the tests
/// at a file's foot, in the file above.
fn sources<'a>(files: &'a [File], mutation: &Mutation) -> Vec<&'a File> {
    let package = mutation.package.trim_start_matches("hookledger-");
    let folder = match mutation.target.as_str() {
        "lib" => format!("{package}/src"),
        target => format!("{package}/tests/{target}"),
    };
    let (module, _) = mutation.test.rsplit_once("::").unwrap();
    let path = format!("{folder}/{}", module.replace("::", "/"));
    let foot = path.trim_end_matches("/tests");
    let places = [
        format!("{path}.rs"),
        format!("{path}/mod.rs"),
        format!("{foot}.rs"),
    ];
    let is = |file: &&File| places.contains(&file.path);
    files.iter().filter(is).collect()
}

#[test]
fn every_mutation_finds_its_rule_once_and_its_test_exists() {
    let files = tree::files();
    let mutations = list().unwrap();
    assert!(mutations.len() >= 10, "{}", mutations.len());
    for mutation in mutations {
        let text = fs::read_to_string(tree::root().join(&mutation.file)).unwrap();
        let mutated = mutation.apply(&text).unwrap();
        assert_ne!(mutated, text, "{} changes nothing", mutation.name);
        let (_, test) = mutation.test.rsplit_once("::").unwrap();
        let mut sources = sources(&files, &mutation).into_iter();
        let exists = sources.any(|file| has_test(&file.text, test));
        assert!(exists, "{}: there is no {}", mutation.name, mutation.test);
    }
}
