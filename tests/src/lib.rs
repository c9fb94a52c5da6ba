//! The harness of the end-to-end promises: the real programs, a real replica set, a real
//! receiver.
//!
//! - [`world`]: one test's stack: its database, its programs, what must hold at its end.
//! - [`receiver`]: an HTTP server that takes deliveries, or is as bad as it is told to be.
//! - [`http`]: a look at an ops port.
//! - [`official`]: Stripe's own SDK.
//! - [`story`]: Stripe events for a test's own customer.
//!
//! Each test has a database and ports of its own and waits for conditions, never for times.

pub mod http;
pub mod official;
pub mod receiver;
pub mod story;
pub mod world;

pub use receiver::Receiver;
pub use world::{World, WorldOptions};
