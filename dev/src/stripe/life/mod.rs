//! Random lives of one customer, as nasty as ordinary life at Stripe is, each with the truth
//! at its end. Whoever is told all of a life's events, in any order and with any doubles,
//! must know that truth or say that it does not.
//!
//! A life follows from its seed. Most of its changes fall into one second, where `created`
//! says nothing about their order; each change says honestly what it changed
//! (`previous_attributes`). The truth is what happened, kept while it happens. It knows
//! nothing of the rules that are judged by it.
//!
//! - `teller`: the second in which things happen, and the events told so far
//! - [`ordinary`]: the histories in which a timestamp guard goes wrong, as lives
//! - `subscription`: what may happen to a subscription; `state`: how one is told
//! - `customer`: the customer itself, and its checkouts
//! - `pack`: credit packs and their payments; `reversal`: what takes credits back again
//! - [`truth`]: what is so at the end; [`judge`]: whether somebody knows it
//!
//! A new family: a file here, a field of [`Truth`] it moves, an arm of
//! `Customer::live`, a comparison in [`judge`].

mod customer;
pub mod judge;
pub mod ordinary;
mod pack;
mod reversal;
mod state;
mod subscription;
mod teller;
#[cfg(test)]
mod tests;
pub mod truth;

use fastrand::Rng;
use hookledger_shared::model::book::Book;

use self::customer::{Customer, Names};
use self::teller::Teller;
use self::truth::Truth;
use super::event::Event;
use super::ids::Ids;

/// In which second lives begin. Fixed, so that a seed says everything.
const BIRTH: i64 = 1_790_000_000;

/// A life, and how it ended.
#[derive(Clone, Debug)]
pub struct Life {
    /// What it follows from, as it is called where something is wrong with it.
    pub name: String,
    /// Each event once, in the order in which things happened.
    pub events: Vec<Event>,
    /// What is so at its end: of the customer, and of its twin in another book if there is
    /// one (live and test, or two accounts, with the same ids).
    pub truths: Vec<Truth>,
}

impl Life {
    /// The life with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut ids = Ids::new(seed);
        let names = Names::new(&mut ids);
        let mut random = Rng::with_seed(seed);
        let book = Book::new(None, false);
        let twin = match random.u8(0..12) {
            0 => Some(Book::new(None, true)),
            1 => Some(Book::new(Some("acct_twin"), false)),
            _ => None,
        };
        let mut life = Self {
            name: format!("seed {seed}"),
            events: Vec::new(),
            truths: Vec::new(),
        };
        for book in [Some(book), twin].into_iter().flatten() {
            let teller = Teller::new(&mut ids, random.fork(), book, BIRTH);
            let (events, truth) = Customer::live(teller, &names);
            life.events.extend(events);
            life.truths.push(truth);
        }
        life
    }

    /// Every event twice, in an order that Stripe might choose: any.
    pub fn deliveries(&self, random: &mut Rng) -> Vec<&Event> {
        let mut deliveries: Vec<&Event> = self.events.iter().chain(&self.events).collect();
        random.shuffle(&mut deliveries);
        deliveries
    }
}
