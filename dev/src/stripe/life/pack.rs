//! Credit packs: sold through Checkout in payment mode, paid at once, later, twice or never,
//! and announced by several events each. One [`Payment`] is what anything that comes after
//! it (a refund, a dispute) is about.

use serde_json::{Value, json};

use super::customer::Buyer;
use super::reversal::{Paid, Reversal};
use super::teller::Teller;
use super::truth::Truth;
use crate::stripe::history::{CREDITS, CURRENCY, PACK_AMOUNT, SKU};

const COMPLETED: &str = "checkout.session.completed";
const SUCCEEDED: &str = "checkout.session.async_payment_succeeded";
const FAILED: &str = "checkout.session.async_payment_failed";

/// A purchase of one pack, once or several times over.
#[derive(Clone, Debug)]
pub(super) struct Purchase {
    /// What it is known by: the product's id, or that of its payment.
    key: String,
    quantity: i64,
    buyer: Buyer,
    own_id: bool,
    payments: Vec<Payment>,
    /// What went back of each of them.
    reversals: Vec<Reversal>,
    /// A session that waits for a slow payment.
    waiting: Option<Payment>,
}

/// One payment of it, by every name it has.
#[derive(Clone, Debug)]
pub(super) struct Payment {
    session: String,
    pub(super) intent: String,
    pub(super) charge: String,
}

impl Payment {
    fn new(teller: &mut Teller<'_>) -> Self {
        Self {
            session: teller.id("cs_test"),
            intent: teller.id("pi"),
            charge: teller.id("ch"),
        }
    }
}

impl Purchase {
    /// The customer goes through the checkout; whether it has paid then is another matter.
    pub(super) fn begin(teller: &mut Teller<'_>, buyer: &Buyer, truth: &mut Truth) -> Self {
        let payment = Payment::new(teller);
        let own_id = teller.chance(80);
        let mut purchase = Self {
            key: if own_id {
                teller.id("purchase")
            } else {
                payment.intent.clone()
            },
            quantity: [1, 1, 2, 3][teller.random.usize(0..4)],
            buyer: buyer.clone(),
            own_id,
            payments: Vec::new(),
            reversals: Vec::new(),
            waiting: None,
        };
        truth.purchases.insert(purchase.key.clone());
        if teller.chance(30) {
            teller.tell(COMPLETED, &purchase.session(&payment, "unpaid"));
            purchase.waiting = Some(payment);
        } else {
            purchase.paid(teller, payment, COMPLETED, truth);
        }
        purchase
    }

    /// What is left to happen to it: a slow payment arrives or does not, a customer pays
    /// again.
    pub(super) fn settle(&mut self, teller: &mut Teller<'_>, truth: &mut Truth) {
        if let Some(payment) = self.waiting.take() {
            if teller.chance(60) {
                self.paid(teller, payment, SUCCEEDED, truth);
            } else {
                teller.tell(FAILED, &self.session(&payment, "unpaid"));
            }
        }
        // Without an id of the product's own another payment is another purchase.
        if self.own_id && teller.chance(20) {
            teller.pause();
            let again = Payment::new(teller);
            self.paid(teller, again, COMPLETED, truth);
        }
        self.give_back(teller, truth);
    }

    /// Money goes back, and credits with it: as many as the payment that kept most can't pay
    /// for any more.
    fn give_back(&mut self, teller: &mut Teller<'_>, truth: &mut Truth) {
        for payment in &self.payments {
            let paid = Paid {
                payment,
                amount: self.amount(),
                charge: self.charge(payment),
            };
            let reversal = Reversal::happen(teller, &paid);
            truth.reversals.extend(reversal.ids.iter().cloned());
            let told = reversal.told.iter().map(|of| format!("reversed:{of}"));
            truth.told.extend(told);
            self.reversals.push(reversal);
        }
        let least = self.reversals.iter().map(|reversal| reversal.back).min();
        truth.balance -= least.unwrap_or(0) * CREDITS / PACK_AMOUNT;
    }

    /// The money is there. Several events announce it; of two that do in the same words,
    /// Stripe sends one as a rule.
    fn paid(&mut self, teller: &mut Teller<'_>, payment: Payment, kind: &str, truth: &mut Truth) {
        let intent = self.intent(&payment);
        let charge = self.charge(&payment);
        teller.tell("charge.succeeded", &charge);
        teller.tell("payment_intent.succeeded", &intent);
        let session = self.session(&payment, "paid");
        teller.tell(kind, &session);
        if teller.chance(20) {
            teller.pause();
            teller.tell(SUCCEEDED, &session);
        }
        self.payments.push(payment);
        if self.payments.len() == 1 {
            truth.balance += CREDITS * self.quantity;
            truth.told.insert(format!("credits:{}:pack", self.key));
        } else {
            truth.paid_twice.insert(self.key.clone());
        }
    }

    fn amount(&self) -> i64 {
        PACK_AMOUNT * self.quantity
    }

    /// What the product writes on session and payment alike.
    fn metadata(&self) -> Value {
        let mut metadata = json!({ "sku": SKU, "quantity": self.quantity.to_string() });
        if self.own_id {
            metadata["purchase_id"] = json!(self.key);
        }
        if let Some(user) = &self.buyer.user {
            metadata["user_id"] = json!(user);
        }
        metadata
    }

    fn session(&self, payment: &Payment, status: &str) -> Value {
        json!({
            "id": payment.session, "object": "checkout.session", "mode": "payment",
            "status": "complete", "payment_status": status, "customer": self.buyer.customer,
            "client_reference_id": self.buyer.user, "payment_intent": payment.intent,
            "amount_subtotal": self.amount(), "amount_total": self.amount(),
            "currency": CURRENCY, "metadata": self.metadata(), "subscription": null,
            "customer_details": { "email": "jenny.rosen@example.com" },
        })
    }

    fn intent(&self, payment: &Payment) -> Value {
        json!({
            "id": payment.intent, "object": "payment_intent", "status": "succeeded",
            "amount": self.amount(), "amount_received": self.amount(), "currency": CURRENCY,
            "customer": self.buyer.customer, "latest_charge": payment.charge,
            "metadata": self.metadata(),
        })
    }

    fn charge(&self, payment: &Payment) -> Value {
        json!({
            "id": payment.charge, "object": "charge", "status": "succeeded", "paid": true,
            "captured": true, "refunded": false, "amount": self.amount(),
            "amount_captured": self.amount(), "amount_refunded": 0, "currency": CURRENCY,
            "customer": self.buyer.customer, "payment_intent": payment.intent,
            "metadata": self.metadata(),
        })
    }
}
