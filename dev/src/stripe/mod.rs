//! Stripe as seen from the receiving end: events in the official shape, and their signature.
//!
//! - [`history`]: a customer's first minutes, event by event.
//! - [`life`]: random lives of a customer, with the truth at the end of each.
//! - [`template`]: one event of a known type, to try things with.
//! - [`event`]: the envelope; `shape`: the objects in it; `ids`: their names.
//! - [`sign`]: the `Stripe-Signature` header.
//! - [`delivery`]: sends a signed body, as Stripe does.
//! - [`api`]: answers who asks for a subscription, as Stripe does, or as badly as wanted.

pub mod api;
pub mod delivery;
pub mod event;
pub mod history;
mod ids;
pub mod life;
pub mod shape;
pub mod sign;
pub mod template;
