//! The customer: who it is, what it buys, and how all of it is mixed.

use serde_json::{Value, json};

use super::pack::Purchase;
use super::state::Identity;
use super::subscription::Subscription;
use super::teller::Teller;
use super::truth::Truth;
use crate::stripe::event::Event;
use crate::stripe::ids::Ids;

/// The ids that a life's books share: a twin has the same in another book.
#[derive(Clone, Debug)]
pub(super) struct Names {
    customer: String,
    user: String,
    subscriptions: [String; 2],
}

impl Names {
    pub(super) fn new(ids: &mut Ids) -> Self {
        Self {
            customer: ids.next("cus"),
            user: ids.next("user"),
            subscriptions: [ids.next("sub"), ids.next("sub")],
        }
    }
}

/// Where the product named its user. Always somewhere, else nobody could know.
#[derive(Clone, Copy, Debug)]
struct Named {
    checkout: bool,
    subscription: bool,
    customer: bool,
}

impl Named {
    fn new(teller: &mut Teller<'_>) -> Self {
        let [checkout, subscription, customer] = [70, 30, 20].map(|share| teller.chance(share));
        Self {
            checkout: checkout || !(subscription || customer),
            subscription,
            customer,
        }
    }
}

/// One customer in one book, while it lives.
#[derive(Debug)]
pub(super) struct Customer<'a> {
    names: &'a Names,
    named: Named,
    truth: Truth,
    subscriptions: Vec<Subscription>,
    purchases: Vec<Purchase>,
    edits: u32,
}

impl<'a> Customer<'a> {
    /// Lives to the end, and tells it.
    pub(super) fn live(mut teller: Teller<'_>, names: &'a Names) -> (Vec<Event>, Truth) {
        let mut customer = Self {
            names,
            named: Named::new(&mut teller),
            truth: Truth::new(teller.book.clone(), &names.customer, &names.user),
            subscriptions: Vec::new(),
            purchases: Vec::new(),
            edits: 0,
        };
        customer.begin(&mut teller);
        for _ in 0..teller.random.usize(1..10) {
            teller.pause();
            customer.step(&mut teller);
        }
        if teller.chance(8) {
            teller.pause();
            customer.delete(&mut teller);
        }
        for purchase in &mut customer.purchases {
            teller.pause();
            purchase.settle(&mut teller, &mut customer.truth);
        }
        (teller.events(), customer.truth)
    }

    fn begin(&mut self, teller: &mut Teller<'_>) {
        if self.named.customer || teller.chance(20) {
            let object = self.object();
            teller.tell("customer.created", &object);
        }
        self.subscribe(teller);
        if teller.chance(25) {
            teller.pause();
            self.subscribe(teller);
        }
    }

    fn step(&mut self, teller: &mut Teller<'_>) {
        match teller.random.u8(0..20) {
            0..3 if self.purchases.len() < 3 => {
                let buyer = self.buyer(teller);
                let bought = Purchase::begin(teller, &buyer, &mut self.truth);
                self.purchases.push(bought);
            }
            3 => {
                let before = self.object();
                self.edits += 1;
                let after = self.object();
                teller.tell_change("customer.updated", &before, &after);
            }
            _ => {
                let which = teller.random.usize(0..self.subscriptions.len());
                self.subscriptions[which].step(teller, &mut self.truth);
            }
        }
    }

    /// A subscription, through a checkout or not. The checkout is told before it, in its
    /// second, or some time later.
    fn subscribe(&mut self, teller: &mut Teller<'_>) {
        let number = self.subscriptions.len();
        let named = self.named;
        let identity = Identity {
            id: self.names.subscriptions[number].clone(),
            item: teller.id("si"),
            customer: self.names.customer.clone(),
            user: named.subscription.then(|| self.names.user.clone()),
            created: teller.now,
            old_rendering: teller.chance(15),
        };
        let status = ["incomplete", "incomplete", "active", "trialing"][teller.random.usize(0..4)];
        let begun = Subscription::begin(teller, identity, status, &mut self.truth);
        if named.checkout && number == 0 || teller.chance(30) {
            let at = teller.now + [0, 0, 0, 1, -1, 40][teller.random.usize(0..6)];
            let user = named.checkout.then_some(self.names.user.as_str());
            let session = subscribed(teller, &begun.identity, user, "paid");
            teller.tell_at(at, "checkout.session.completed", &session, None);
        }
        self.subscriptions.push(begun);
    }

    /// It is gone, and its subscriptions with it.
    fn delete(&mut self, teller: &mut Teller<'_>) {
        let first = teller.chance(50);
        let object = self.object();
        if first {
            teller.tell("customer.deleted", &object);
        }
        for subscription in &mut self.subscriptions {
            if !subscription.is_over() {
                subscription.end(teller, &mut self.truth);
            }
        }
        if !first {
            teller.tell("customer.deleted", &object);
        }
        self.truth.deleted = true;
    }

    /// Whom a credit pack is sold to. The product needs not say so when the customer's link
    /// does.
    fn buyer(&self, teller: &mut Teller<'_>) -> Buyer {
        let named = teller.chance(70);
        Buyer {
            customer: self.names.customer.clone(),
            user: named.then(|| self.names.user.clone()),
        }
    }

    fn object(&self) -> Value {
        let user = self.named.customer.then_some(&self.names.user);
        let metadata = user.map_or_else(|| json!({}), |user| json!({ "user_id": user }));
        json!({
            "id": self.names.customer, "object": "customer", "metadata": metadata,
            "description": format!("edited {} times", self.edits), "email": "jenny.rosen@example.com",
        })
    }
}

/// The checkout session through which a subscription came to be.
pub(super) fn subscribed(
    teller: &mut Teller<'_>,
    subscription: &Identity,
    user: Option<&str>,
    payment_status: &str,
) -> Value {
    json!({
        "id": teller.id("cs_test"), "object": "checkout.session", "mode": "subscription",
        "status": "complete", "payment_status": payment_status,
        "customer": subscription.customer, "client_reference_id": user,
        "subscription": subscription.id, "amount_subtotal": 1_200, "amount_total": 1_200,
        "currency": "usd", "payment_intent": null, "metadata": {},
        "customer_details": { "email": "jenny.rosen@example.com" },
    })
}

/// Whom something is sold to.
#[derive(Clone, Debug)]
pub(super) struct Buyer {
    pub(super) customer: String,
    pub(super) user: Option<String>,
}
