//! What both processes agree on. In reading order:
//!
//! - [`config`]: every setting, read and checked before anything binds
//! - [`telemetry`]: logs and metrics, the names operators see
//! - [`clock`], [`backoff`], [`shutdown`], [`task`]: small tools without domain knowledge
//!
//! Deliberately not here: HTTP servers, providers' verification, handlers.

pub mod backoff;
pub mod clock;
pub mod config;
pub mod model;
pub mod shutdown;
pub mod store;
pub mod task;
pub mod telemetry;
