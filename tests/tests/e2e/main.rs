//! What Hookledger promises, end to end: the real programs on a real replica set. The names
//! are the promises; README.md links to them.
#![allow(
    clippy::unwrap_used,
    reason = "a test that can not go on should say where"
)]

mod conflicts;
mod duplicates;
mod elections;
mod kills;
mod lives;
mod official;
mod operators;
mod poison;
mod rebuild;
mod repair;
mod shutdown;
mod zombies;
