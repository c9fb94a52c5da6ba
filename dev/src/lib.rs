//! Everything that runs on a developer's machine, and nothing that runs in production.
//!
//! In reading order:
//!
//! - [`mongo`]: a local MongoDB replica set: finding `mongod`, running it, breaking it on purpose. The tests
//!   use this as a library.
//! - [`stripe`]: events in Stripe's official shape, and their signature.
//! - [`binaries`]: builds the product's own two programs and says where they are.
//! - [`stack`]: runs those programs, each a child that never outlives us.
//! - [`environment`]: every variable this package reads.
//! - [`demo`]: a history through those programs, and an account of it.
//! - [`lives`]: random lives of customers through those programs, compared with the truth.
//! - [`mod@bench`]: figures beside a floor.
//! - [`mutants`]: takes rules away and demands that tests fail.
//! - [`folder`]: a folder that goes when we do.
//! - [`cli`]: the commands behind `cargo dev`.
//!
//! Errors are `anyhow` here, also in the library: each of them ends a command or a test, and is read by a
//! person.

pub mod bench;
pub mod binaries;
pub mod cli;
pub mod demo;
pub mod environment;
pub mod folder;
pub mod lives;
pub mod mongo;
pub mod mutants;
pub mod stack;
pub mod stripe;
