//! Promises of the outbox, kept on a real MongoDB and over real sockets.
//!
//! [`world`] and [`receiver`] are what the tests stand on: a database of one's own with a
//! deliverer, and a destination that behaves as a test tells it.

#![allow(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect may panic"
)]

mod answers;
mod claims;
mod enqueue;
mod official;
mod receiver;
mod sending;
mod silence;
mod trouble;
mod world;
