//! An observation: the provider's answer when it was asked for an object, as an event of the
//! ledger. It is told from a delivery by its scope, which no source can be configured with,
//! and never by its body, which a sender could write.

/// Its type. A delivery may say the same of itself, and is none.
pub const TYPE: &str = "hookledger.subscription.observed";
/// The scope and the source of its row: a source's own can't hold a colon.
pub const SCOPE: &str = "hookledger:repair";
