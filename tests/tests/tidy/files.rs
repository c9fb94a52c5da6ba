//! What a file is: it says what belongs in it, can be read at one go, leaves nothing for
//! later, and is at home on any machine.

use crate::tree::{self, File};

/// Lines, without the tests at a file's foot.
const LONGEST: usize = 400;

/// What names somebody's machine. Put together here, since this file is searched as well.
const MACHINES: [&str; 4] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];
/// Where packages and images come from is for each machine to say.
const REGISTRIES: [&str; 7] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("docker", ".io"),
    concat!("gcr", ".io"),
];
/// What is not done yet, in the words people use.
const LATER: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
];
const SWITCHED_OFF: &str = concat!("#[ig", "nore");

/// The lines that have one of `words`.
fn lines_with(file: &File, words: &[&str]) -> Vec<String> {
    let has = |line: &str| words.iter().any(|word| line.contains(word));
    let lines = file.text.lines().enumerate().filter(|(_, line)| has(line));
    let named = lines.map(|(number, line)| format!("{}:{}: {line}", file.path, number + 1));
    named.collect()
}

fn check(wanted: impl Fn(&File) -> bool, words: &[&str]) {
    let files = tree::files();
    let searched = files.iter().filter(|file| wanted(file));
    let found: Vec<_> = searched.flat_map(|file| lines_with(file, words)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Data is what it is: recorded by others, or by a tool.
fn is_ours(file: &File) -> bool {
    !file.path.contains("/fixtures/") && file.path != "Cargo.lock"
}

#[test]
fn every_source_file_opens_with_what_belongs_there() {
    for file in tree::files().iter().filter(|file| file.is_rust()) {
        assert!(file.text.starts_with("//! "), "{}", file.path);
    }
}

#[test]
fn no_source_file_is_longer_than_a_person_reads_at_one_go() {
    for file in tree::files().iter().filter(|file| file.is_rust()) {
        let length = file.without_tests().lines().count();
        assert!(length < LONGEST, "{}: {length} lines", file.path);
    }
}

#[test]
fn nothing_is_left_for_later() {
    check(is_ours, &LATER);
}

#[test]
fn no_test_is_switched_off() {
    check(File::is_rust, &[SWITCHED_OFF]);
}

#[test]
fn nothing_names_a_machine_or_a_registry() {
    check(is_ours, &MACHINES);
    check(is_ours, &REGISTRIES);
}

#[test]
fn a_word_is_found_with_its_line() {
    let file = File {
        path: "a.md".to_owned(),
        text: "one\ntwo three\n".to_owned(),
    };
    assert_eq!(lines_with(&file, &["three"]), ["a.md:2: two three"]);
    assert!(lines_with(&file, &["four"]).is_empty());
}
