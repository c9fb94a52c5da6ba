//! Ingest: verifies webhook deliveries on their raw bytes and answers 200 only for what is
//! on a majority of the ledger. In reading order, which is a delivery's way:
//!
//! - [`route`]: the HTTP surface; `route::webhook` is the whole way on one screen
//! - [`provider`]: is it authentic? Pure, one verifier a file
//! - [`receipt`]: which event is it? Pure
//! - [`commit`]: many waiting deliveries, one `insertMany`, each its own answer
//! - [`answer`]: every answer that a sender can get
//! - [`app`]: what the parts share, how it all starts and stops; [`clock`]: where a
//!   verifier's `now` comes from
//!
//! Deliberately not here: what an event means (the worker's handlers), and anything that
//! talks to MongoDB (`hookledger_shared::store`).

pub mod answer;
pub mod app;
pub mod clock;
pub mod commit;
pub mod provider;
pub mod receipt;
pub mod route;
