//! Reading Stripe: what an event says, whatever version of the API rendered it.
//!
//! - [`envelope`]: the event around the object, parsed once.
//! - `field`: one field, read without trust: moved, missing or of another type is an
//!   answer, never a panic.
//! - `overlay`: the object before a change, from `previous_attributes`.
//! - [`subscription`], [`session`], [`customer`], [`invoice`], [`intent`], [`charge`],
//!   [`reversal`] (refund or dispute), [`schedule`]: one object each, every field with its places
//!   over time; [`pack`] is what the product's metadata says on several of them.
//!
//! Enums stay open, ids opaque, and nothing of a payload becomes a field name.

pub mod charge;
pub mod customer;
pub mod envelope;
mod field;
pub mod intent;
pub mod invoice;
mod overlay;
pub mod pack;
pub mod reversal;
pub mod schedule;
pub mod session;
pub mod subscription;
#[cfg(test)]
mod tests;

pub use envelope::Envelope;

/// Why a body can't be used. Names places, never what stands there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Not JSON, or nested deeper than any event of Stripe's.
    #[error("the body is not JSON (line {line}, column {column})")]
    NotJson {
        /// Where reading stopped.
        line: usize,
        /// Where reading stopped.
        column: usize,
    },
    /// A field without which the event says nothing.
    #[error("`{0}` is missing or not of its type")]
    Field(&'static str),
}
