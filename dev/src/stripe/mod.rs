//! Stripe as seen from the receiving end: events in the official shape, and their signature.
//!
//! - [`sign`]: the `Stripe-Signature` header.
//!
//! The judge of all of it is the product's own verifier and reader, and behind them the official SDKs.

pub mod sign;
