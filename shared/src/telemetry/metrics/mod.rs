//! Metrics: what each process counts and measures, under the names that dashboards and
//! alerts use. No statics: a process makes its own, a test too.
//!
//! A new one: its entry in `ingest.rs` or `worker.rs` with help text and unit, one call
//! where it happens, one row in docs/operations.md.
//!
//! Every label has few values: a configured name, or a word from the code.

mod book;
mod ingest;
mod worker;

pub use ingest::IngestMetrics;
pub use worker::{Row, WorkerMetrics};

/// What `encode` writes, as the `Content-Type` header says it.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
