//! A real MongoDB on the developer's machine.
//!
//! - [`binary`]: which `mongod` to run; [`download`] fetches one when there is none.
//! - [`process`]: one server process, tied to the life of the process that launched it.
//! - [`direct`]: commands to one server, whatever its role.
//! - [`replica_set`]: one or three members that elect a primary.
//! - [`deployment`]: a replica set of ours, or the one that the developer has named.
//! - [`fail_point`]: makes a server fail in a chosen way.
//! - [`shared`]: the one deployment that all tests of a test binary share.
//! - [`wait`]: waiting for a condition, with a limit.

pub mod binary;
pub mod deployment;
pub mod direct;
pub mod download;
pub mod fail_point;
pub mod process;
pub mod replica_set;
pub mod shared;
pub mod wait;

pub use deployment::Deployment;
pub use fail_point::{ArmedFailPoint, FailPoint};
pub use process::Mongod;
pub use replica_set::{Members, ReplicaSet, ReplicaSetOptions};
