//! The store's promises on a real mongod: each test fails when its rule is taken away.

#![allow(
    clippy::unwrap_used,
    reason = "a test that can not go on should say where"
)]

mod bed;
mod checks;
mod claims;
mod conflicts;
mod fences;
mod indexes;
mod inserts;
mod sessions;
mod unreadable;
