//! One event of a known type, new each time: what `cargo dev send <type>` sends.

use super::event::Event;
use super::history::History;

/// Finds an event of this type in a new history of its own that ended at `now` (unix seconds).
#[must_use]
pub fn event(kind: &str, seed: u64, now: i64) -> Option<Event> {
    History::new(seed, now)
        .events
        .into_iter()
        .find(|event| event.kind == kind)
}

/// Every type there is, sorted.
#[must_use]
pub fn kinds() -> Vec<String> {
    let mut kinds: Vec<String> = History::new(0, 0)
        .events
        .into_iter()
        .map(|event| event.kind)
        .collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[cfg(test)]
mod tests {
    use super::{event, kinds};

    #[test]
    fn every_known_type_has_an_event_and_two_are_never_the_same() {
        for kind in kinds() {
            let (one, other) = (event(&kind, 1, 0).unwrap(), event(&kind, 2, 0).unwrap());
            assert_eq!(one.kind, kind);
            assert_ne!(one.id, other.id);
        }
        assert!(event("widget.polished", 1, 0).is_none());
    }
}
