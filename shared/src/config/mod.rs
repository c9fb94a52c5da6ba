//! Configuration: one file and the environment, read and checked before anything binds.
//!
//! [`Raw`] is what was written; [`IngestSettings`] and [`WorkerSettings`] are what the two
//! processes make of it. One file here an area, each with its limits and their reasons.
//! What all have in common: every fault names its key, and all are reported at once.

mod address;
mod area;
mod catalogue;
mod check;
mod environment;
mod fault;
mod ingest;
mod known;
mod metadata;
mod mongodb;
mod nearest;
mod number;
mod overrides;
mod provider;
mod raw;
mod routing;
mod secret;
mod show;
mod sink;
mod source;
mod stripe;
#[cfg(test)]
mod tests;
mod worker;

pub use catalogue::{Catalogue, Pack};
pub use environment::Environment;
pub use fault::{Fault, Faults};
pub use ingest::IngestSettings;
pub use known::settings;
pub use metadata::MetadataNames;
pub use mongodb::{Mongodb, masked};
pub use provider::{Provider, ProviderError};
pub use raw::{DEFAULT_FILE, FILE_VARIABLE, Raw};
pub use routing::{Routing, TOPICS};
pub use secret::Secret;
pub use show::show;
pub use sink::{HttpSink, Sink, SinkKind};
pub use source::{Source, SourcePin};
pub use stripe::StripeApi;
pub use worker::WorkerSettings;
