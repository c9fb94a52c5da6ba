//! The ordinary histories in which the well-known timestamp guard goes wrong, each as a
//! life: a few events, some of them in one second.

use fastrand::Rng;
use hookledger_shared::model::book::Book;
use serde_json::json;

use super::customer::subscribed;
use super::state::{Identity, State};
use super::subscription::{MONTH, Subscription};
use super::teller::Teller;
use super::truth::Truth;
use super::{BIRTH, Life};
use crate::stripe::ids::Ids;

type Script = fn(&mut Stage<'_>);

/// Every history, by its name. Seconds are counted from the life's first.
const HISTORIES: [(&str, Script); 14] = [
    ("S01 a checkout in the second of its payment", |stage| {
        stage
            .begin(10, "incomplete")
            .status(10, "active")
            .checkout(10, "paid");
    }),
    ("S02 a checkout in the next second", |stage| {
        stage
            .begin(10, "incomplete")
            .status(10, "active")
            .checkout(11, "paid");
    }),
    ("S03 a trial", |stage| {
        stage.begin(10, "trialing").checkout(10, "paid");
    }),
    ("S04 a deletion", |stage| {
        stage.begin(10, "active").checkout(10, "paid").delete(30);
    }),
    ("S05 a renewal, its invoice paid later", |stage| {
        stage
            .begin(10, "active")
            .checkout(10, "paid")
            .renew(100)
            .invoice(103, "paid");
    }),
    ("S06 a renewal, its invoice paid at once", |stage| {
        stage
            .begin(10, "active")
            .checkout(10, "paid")
            .renew(100)
            .invoice(100, "paid");
    }),
    ("S07 dunning that ends well", |stage| {
        stage.begin(10, "active").checkout(10, "paid");
        stage.invoice(50, "payment_failed").status(50, "past_due");
        stage.invoice(60, "paid").status(60, "active");
    }),
    ("S08 one ends, another goes on", |stage| {
        stage.begin(10, "active").checkout(10, "paid");
        stage.begin(15, "active").checkout(15, "paid");
        stage.first().delete(20);
    }),
    ("S09 two changes in one second", |stage| {
        stage.begin(5, "active").checkout(5, "paid");
        stage.change(10, |state| state.plan = "team");
        stage.change(10, |state| state.flip_cancellation(BIRTH + 10));
    }),
    ("S10 a notice in the second of a change", |stage| {
        stage.begin(5, "trialing").checkout(5, "paid");
        stage.notice(10, "trial_will_end").status(10, "active");
    }),
    ("S11 there and back in one second", |stage| {
        stage.begin(5, "active").checkout(5, "paid");
        for _ in 0..2 {
            stage.change(10, |state| state.flip_cancellation(BIRTH + 10));
        }
    }),
    ("S12 never paid", |stage| {
        stage.begin(10, "incomplete").checkout(10, "unpaid");
        stage.status(90, "incomplete_expired");
    }),
    ("S13 without a checkout", |stage| {
        stage.in_metadata = true;
        stage.begin(10, "incomplete").status(10, "active");
    }),
    ("S14 an update in the second of a deletion", |stage| {
        stage.begin(5, "active").checkout(5, "paid");
        stage.change(10, |state| state.flip_cancellation(BIRTH + 10));
        stage.delete(10);
    }),
];

/// Each history as a life of its own; another seed has other ids and other orders.
#[must_use]
pub fn lives(seed: u64) -> Vec<Life> {
    let mut ids = Ids::new(seed);
    let mut random = Rng::with_seed(seed);
    let mut life = |(name, script): &(&str, Script)| {
        let (customer, user) = (ids.next("cus"), ids.next("user"));
        let book = Book::new(None, false);
        let truth = Truth::new(book.clone(), &customer, &user);
        let mut stage = Stage {
            teller: Teller::new(&mut ids, random.fork(), book, BIRTH),
            truth,
            in_metadata: false,
            subscriptions: Vec::new(),
            on: 0,
        };
        script(&mut stage);
        Life {
            name: (*name).to_owned(),
            events: stage.teller.events(),
            truths: vec![stage.truth],
        }
    };
    HISTORIES.iter().map(&mut life).collect()
}

/// Where a history is played. Everything is about the subscription begun last, until
/// [`first`](Self::first) says otherwise.
struct Stage<'a> {
    teller: Teller<'a>,
    truth: Truth,
    /// The product names its user on its subscriptions.
    in_metadata: bool,
    subscriptions: Vec<Subscription>,
    on: usize,
}

impl Stage<'_> {
    fn at(&mut self, second: i64) {
        self.teller.now = BIRTH + second;
    }

    fn begin(&mut self, second: i64, status: &'static str) -> &mut Self {
        self.at(second);
        let identity = Identity {
            id: self.teller.id("sub"),
            item: self.teller.id("si"),
            customer: self.truth.customer.clone(),
            user: self.in_metadata.then(|| self.truth.user.clone()),
            created: self.teller.now,
            old_rendering: false,
        };
        let begun = Subscription::begin(&mut self.teller, identity, status, &mut self.truth);
        self.on = self.subscriptions.len();
        self.subscriptions.push(begun);
        self
    }

    fn first(&mut self) -> &mut Self {
        self.on = 0;
        self
    }

    fn change(&mut self, second: i64, change: impl FnOnce(&mut State)) -> &mut Self {
        self.at(second);
        let subscription = &mut self.subscriptions[self.on];
        subscription.change(&mut self.teller, |state, _| change(state));
        subscription.note(&mut self.truth);
        self
    }

    fn status(&mut self, second: i64, status: &'static str) -> &mut Self {
        self.change(second, |state| state.status = status)
    }

    fn renew(&mut self, second: i64) -> &mut Self {
        self.change(second, |state| {
            state.period = (state.period.1, state.period.1 + MONTH);
        })
    }

    fn notice(&mut self, second: i64, kind: &str) -> &mut Self {
        self.at(second);
        let kind = format!("customer.subscription.{kind}");
        self.subscriptions[self.on].notice(&mut self.teller, &kind);
        self
    }

    fn delete(&mut self, second: i64) -> &mut Self {
        self.at(second);
        self.subscriptions[self.on].delete(&mut self.teller, &mut self.truth);
        self
    }

    fn checkout(&mut self, second: i64, payment_status: &str) -> &mut Self {
        self.at(second);
        let identity = &self.subscriptions[self.on].identity;
        let user = Some(self.truth.user.as_str());
        let session = subscribed(&mut self.teller, identity, user, payment_status);
        self.teller.tell("checkout.session.completed", &session);
        self
    }

    fn invoice(&mut self, second: i64, what: &str) -> &mut Self {
        self.at(second);
        let identity = &self.subscriptions[self.on].identity;
        let (paid, status) = match what {
            "paid" => (1_200, "paid"),
            _ => (0, "open"),
        };
        let invoice = json!({
            "id": self.teller.id("in"), "object": "invoice", "customer": identity.customer,
            "status": status, "amount_due": 1_200, "amount_paid": paid,
            "amount_remaining": 1_200 - paid, "total": 1_200, "subtotal": 1_200,
            "currency": "usd", "billing_reason": "subscription_cycle",
            "customer_email": "jenny.rosen@example.com",
            "parent": {
                "type": "subscription_details",
                "subscription_details": { "subscription": identity.id, "metadata": {} },
            },
        });
        self.teller.tell(&format!("invoice.{what}"), &invoice);
        self
    }
}
