//! The documentation tells of every setting, and of no other.

use super::super::settings;

const DOCUMENTATION: &str = include_str!("../../../../docs/configuration.md");
const SAMPLE: &str = include_str!("../../../../hookledger.toml");

/// The settings in the documentation's tables: rows that begin with a key.
fn documented() -> Vec<String> {
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    DOCUMENTATION
        .lines()
        .filter_map(row)
        .filter(|key| !key.starts_with("HOOKLEDGER"))
        .collect()
}

#[test]
fn every_setting_is_documented_and_every_documented_one_exists() {
    let (mut known, mut documented) = (settings(), documented());
    known.sort();
    documented.sort();
    assert_eq!(documented, known);
}

#[test]
fn the_sample_names_every_setting() {
    for setting in settings() {
        let name = setting.rsplit('.').next().unwrap();
        assert!(SAMPLE.contains(name), "{setting} is not in the sample");
    }
}
