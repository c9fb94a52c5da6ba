//! Every order in which events can arrive, with doubles at seeded places.

use super::story::Event;
use super::world::World;

/// Delivers the events in every order, in each with a few of them once more somewhere.
/// Answers the one end that all of them come to.
pub(super) fn one_end(name: &str, events: &[Event]) -> World {
    let first = World::after(events);
    let end = first.end();
    let mut random = fastrand::Rng::with_seed(events.len() as u64);
    permutations(events.len(), &mut |order| {
        let mut order = order.to_vec();
        for _ in 0..random.usize(0..=events.len()) {
            let (place, again) = (random.usize(0..=order.len()), random.usize(0..events.len()));
            order.insert(place, again);
        }
        let world = World::after(order.iter().map(|index| &events[*index]));
        assert_eq!(world.end(), end, "{name}: {order:?} ends otherwise");
    });
    first
}

/// Heap's algorithm.
fn permutations(count: usize, each: &mut impl FnMut(&[usize])) {
    fn go(k: usize, order: &mut [usize], each: &mut impl FnMut(&[usize])) {
        if k <= 1 {
            return each(order);
        }
        for i in 0..k {
            go(k - 1, order, each);
            let other = if k.is_multiple_of(2) { i } else { 0 };
            order.swap(other, k - 1);
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    go(count, &mut order, each);
}

#[test]
fn every_order_is_tried() {
    let mut seen = std::collections::BTreeSet::new();
    permutations(5, &mut |order| assert!(seen.insert(order.to_vec())));
    assert_eq!(seen.len(), 120);
}
