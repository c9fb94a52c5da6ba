//! House rules that no lint knows: who may import whom, what a file is, what documents may
//! claim. Each rule is a small pure function over text; its test's name is the rule.
#![allow(
    clippy::unwrap_used,
    reason = "a test that can not go on should say where"
)]

mod documents;
mod files;
mod imports;
mod metrics;
mod mutants;
mod paths;
mod tree;
