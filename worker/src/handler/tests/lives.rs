//! Random lives, delivered shuffled and doubled: the end is the truth, or flagged. The lives
//! and their truth are `hookledger_dev`'s, which knows none of the rules that are tried.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::thread;

use fastrand::Rng;
use hookledger_dev::environment;
use hookledger_dev::stripe::life::Life;
use hookledger_dev::stripe::life::judge::{Known, Verdict, judge};
use hookledger_shared::model::book::Book;

use super::super::{Family, Input, Rules};
use super::story;
use super::world::World;

const LIVES: u64 = 30_000;

/// What became of some lives.
#[derive(Default)]
struct Tally {
    deliveries: usize,
    ties: usize,
    flagged: usize,
}

#[test]
fn nothing_is_ever_wrong_and_unflagged() {
    if let Some(seed) = environment::life_seed() {
        let tally = replay(seed);
        println!("seed {seed}: {} flagged", tally.flagged);
        return;
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let share = |first| move || sum((first..LIVES).step_by(threads as usize).map(replay));
        let running: Vec<_> = (0..threads)
            .map(|first| scope.spawn(share(first)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let all = sum(tallies);
    let Tally {
        deliveries,
        ties,
        flagged,
    } = all;
    println!("{LIVES} lives, {deliveries} deliveries, {ties} ties, {flagged} flagged");
    assert!(
        ties > 10_000 && flagged > 1_000,
        "{ties} ties, {flagged} flagged: too tame"
    );
}

fn sum(tallies: impl IntoIterator<Item = Tally>) -> Tally {
    let add = |one: Tally, other: Tally| Tally {
        deliveries: one.deliveries + other.deliveries,
        ties: one.ties + other.ties,
        flagged: one.flagged + other.flagged,
    };
    tallies.into_iter().fold(Tally::default(), add)
}

/// Delivers one life in two ways and compares both with each other and with the truth.
fn replay(seed: u64) -> Tally {
    let rules = World::rules();
    let life = Life::new(seed);
    let inputs: BTreeMap<&str, Input> = life
        .events
        .iter()
        .filter(|event| Family::of(&event.kind).is_some())
        .map(|event| (event.id.as_str(), read(event, &rules)))
        .collect();
    let deliver = |ids: &mut dyn Iterator<Item = &str>| {
        let mut world = World::default();
        for id in ids {
            if let Some(input) = inputs.get(id) {
                world.deliver(input, &rules);
            }
        }
        world
    };
    let replay = format!("{}={seed} runs this life alone", environment::LIFE_SEED);
    let in_order = deliver(&mut life.events.iter().map(|event| event.id.as_str()));
    let deliveries = life.deliveries(&mut Rng::with_seed(!seed));
    let shuffled = deliver(&mut deliveries.iter().map(|event| event.id.as_str()));
    assert_eq!(
        shuffled.end(),
        in_order.end(),
        "two orders, two ends: {replay}"
    );
    assert_eq!(shuffled.rejected, BTreeMap::new(), "{replay}");
    let mut tally = Tally {
        deliveries: deliveries.len(),
        ..Tally::default()
    };
    let subscriptions = shuffled.subscriptions.values();
    tally.ties += subscriptions
        .filter(|one| one.register.events.len() > 1)
        .count();
    let known = known(shuffled);
    for truth in &life.truths {
        let Verdict { wrong, flagged } = judge(truth, &known);
        assert!(wrong.is_empty(), "{replay}: {wrong:#?}");
        tally.flagged += flagged.len();
    }
    tally
}

fn read(event: &hookledger_dev::stripe::event::Event, rules: &Rules) -> Input {
    story::read(&event.id, event.body.as_bytes(), rules).unwrap()
}

fn known(world: World) -> Known {
    let mut balances: BTreeMap<String, i64> = BTreeMap::new();
    for entry in world.entries.values() {
        let book = Book {
            account: entry.account.clone(),
            livemode: entry.livemode,
        };
        *balances.entry(book.key(&entry.user_id)).or_default() += entry.credits;
    }
    Known {
        balances,
        subscriptions: BTreeMap::clone(&world.subscriptions),
        customers: BTreeMap::clone(&world.customers),
        purchases: BTreeMap::clone(&world.purchases),
        told: world.once,
    }
}
