//! Mutation checks: takes one rule away at a time and demands that the test which says it
//! holds that rule fails. A rule that no test misses is not held by any.
//!
//! - `list.toml`: the mutations, as data; [`list`] reads them
//! - `tree`: a copy of the working tree, in which they are tried
//! - [`Tried`]: what became of one

mod cargo;
mod tree;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use self::cargo::{Cargo, Ran};
use self::tree::Tree;

const LIST: &str = include_str!("list.toml");

/// One rule, and the test that misses it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// The rule, in words.
    pub name: String,
    /// Where it stands, from the repository's root.
    pub file: String,
    /// The text that is the rule; exactly once in the file.
    pub find: String,
    /// What stands there without the rule. It must compile.
    pub replace: String,
    /// The package that has the test.
    pub package: String,
    /// `lib`, or the name of the package's test target.
    pub target: String,
    /// The whole path of the test that must fail.
    pub test: String,
}

impl Mutation {
    /// A text with the rule taken away.
    ///
    /// # Errors
    /// When the text does not have the rule exactly once.
    pub fn apply(&self, text: &str) -> Result<String> {
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "{} has {count} times: {}", self.file, self.find);
        Ok(text.replace(&self.find, self.replace.trim_start_matches('\n')))
    }
}

#[derive(Deserialize)]
struct List {
    mutation: Vec<Mutation>,
}

/// Every mutation.
///
/// # Errors
/// When the list is not what it should be.
pub fn list() -> Result<Vec<Mutation>> {
    let list: List = toml::from_str(LIST).context("the list of mutations")?;
    Ok(list.mutation)
}

/// What became of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The test failed, as it must.
    Caught,
    /// The test passed: it does not hold the rule.
    Survived,
    /// The mutation is at fault: it does not compile.
    Broken,
}

/// A mutation that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Which.
    pub mutation: Mutation,
    /// What became of it.
    pub fate: Fate,
    /// Compiling included.
    pub took: Duration,
}

/// Tries the mutations whose name has `only` in it; tells each as soon as it is known.
///
/// # Errors
/// When a test does not pass on the tree as it is, or cargo can't be run.
pub async fn run(only: &str, mut tell: impl FnMut(&Tried)) -> Result<()> {
    let all = list()?;
    let chosen: Vec<_> = all
        .into_iter()
        .filter(|mutation| mutation.name.contains(only))
        .collect();
    ensure!(!chosen.is_empty(), "no mutation has {only:?} in its name");
    let tree = Tree::copied().await?;
    let cargo = Cargo::of(&tree);
    for mutation in &chosen {
        let ran = cargo.test(mutation).await?;
        ensure!(
            ran == Ran::Passed,
            "without any mutation {} {ran:?}",
            mutation.test
        );
    }
    for mutation in chosen {
        let started = Instant::now();
        let original = tree.read(&mutation.file)?;
        tree.write(&mutation.file, &mutation.apply(&original)?)?;
        let ran = cargo.test(&mutation).await;
        tree.write(&mutation.file, &original)?;
        let fate = match ran? {
            Ran::Failed | Ran::Hung => Fate::Caught,
            Ran::Passed => Fate::Survived,
            Ran::DidNotCompile => Fate::Broken,
        };
        tell(&Tried {
            mutation,
            fate,
            took: started.elapsed(),
        });
    }
    Ok(())
}
