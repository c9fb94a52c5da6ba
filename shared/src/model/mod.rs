//! Plain data that both processes agree on, one file a document type. No database, no
//! clock, no rules: those live in `store` and in the worker's handlers.

pub mod event;
pub mod lease;
pub mod outbox;
