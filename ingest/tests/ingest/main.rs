//! What ingest promises, held against a real MongoDB and over real sockets. A test's name is
//! the promise.
//!
//! - [`rig`]: starts ingest in this process or as the real program, and delivers to it
//! - everything else: promises, by what they are about

#![allow(
    clippy::unwrap_used,
    reason = "a test that can't go on has failed, and so have its helpers"
)]

mod boot;
mod duplicates;
mod durability;
mod http;
mod ledger;
mod limits;
mod rig;
mod secrecy;
mod shutdown;
mod vectors;
