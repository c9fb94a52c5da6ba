//! Benchmarks: figures as ratios to a floor measured in the same run, medians of several
//! runs. Load goes to loopback only and is bounded in count.

pub mod figures;
pub mod floor;
pub mod ingest;
mod load;
mod process;
pub mod worker;
