//! What operators see of a running process: logs and metrics.

pub mod logging;
pub mod metrics;
