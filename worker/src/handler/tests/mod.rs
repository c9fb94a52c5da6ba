//! The rules' promises: whatever the order in which a set of events arrives, and however
//! often each of them does, the end is one, and it is the truth or flagged as provisional.
//!
//! - [`story`]: events, as JSON in the shape of Stripe's
//! - [`world`]: a fold over decisions, so that rules can be run without a database
//! - [`orders`]: every permutation, with doubles at seeded places
//! - the rest: what is promised, family by family

mod billing;
mod credits;
mod hostile;
mod links;
mod lives;
mod money;
mod official;
mod orders;
mod payloads;
mod review;
pub(crate) mod story;
mod subscriptions;
mod twins;
pub(crate) mod world;
