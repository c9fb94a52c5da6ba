//! Loops without domain knowledge: each runs a step again and again and decides only when.

pub mod alive;
pub mod clock;
pub mod deliverer;
pub mod gauges;
pub mod processor;
pub mod repairer;
pub mod rescuer;
pub mod wakeup;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// There was something; there may be more.
    Worked,
    /// Nothing is due.
    Idle,
}
