//! Promises to operators, kept by the real program on a real MongoDB.
//!
//! [`bed`] is what the tests stand on: a database of one's own, a configuration file, and
//! the program, none of whose outputs may ever hold a secret.

#![allow(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect may panic"
)]

mod bed;
mod configuration;
mod indexes;
mod lag;
mod letters;
mod lists;
mod page;
mod port;
mod rebuild;
mod retries;
mod scans;
mod trouble;
