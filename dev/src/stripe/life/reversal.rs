//! What takes credits back again: refunds, whole or in parts, some of which fail, and
//! disputes, which may be inquiries only, lost or won. Amounts are whole credits' worth, so
//! the truth needs no rule of rounding.

use serde_json::{Value, json};

use super::pack::Payment;
use super::teller::Teller;
use crate::stripe::history::{CREDITS, CURRENCY, PACK_AMOUNT};

/// Money of one payment that went back.
#[derive(Clone, Debug, Default)]
pub(super) struct Reversal {
    /// How much of it, in cents.
    pub(super) back: i64,
    /// The one-off messages that it is to be told by, without the kind.
    pub(super) told: Vec<String>,
    /// The ids of what did it.
    pub(super) ids: Vec<String>,
}

/// A payment that was made, and its charge before anything went back.
#[derive(Clone, Debug)]
pub(super) struct Paid<'a> {
    pub(super) payment: &'a Payment,
    pub(super) amount: i64,
    pub(super) charge: Value,
}

impl Paid<'_> {
    /// The charge, so much of which has gone back.
    fn charge(&self, refunded: i64) -> Value {
        let mut charge = self.charge.clone();
        charge["amount_refunded"] = json!(refunded);
        charge["refunded"] = json!(refunded == self.amount);
        charge
    }
}

impl Reversal {
    /// Something happens to a payment of that amount, or nothing.
    pub(super) fn happen(teller: &mut Teller<'_>, paid: &Paid<'_>) -> Self {
        let mut reversal = Self::default();
        match teller.random.u8(0..10) {
            0..3 => reversal.refund(teller, paid),
            3 => reversal.dispute(teller, paid),
            4 => {
                reversal.refund(teller, paid);
                reversal.dispute(teller, paid);
            }
            _ => {}
        }
        reversal.back = reversal.back.min(paid.amount);
        reversal
    }

    /// Up to three refunds, never more than there is.
    fn refund(&mut self, teller: &mut Teller<'_>, paid: &Paid<'_>) {
        let cents_a_credit = PACK_AMOUNT / CREDITS;
        let mut left = paid.amount;
        for _ in 0..teller.random.usize(1..4) {
            teller.pause();
            let most = left / cents_a_credit;
            if most == 0 {
                return;
            }
            let credits = if teller.chance(40) {
                most
            } else {
                teller.random.i64(1..=most)
            };
            let part = credits * cents_a_credit;
            left -= part;
            self.one_refund(teller, paid, part);
        }
    }

    fn one_refund(&mut self, teller: &mut Teller<'_>, paid: &Paid<'_>, part: i64) {
        let id = teller.id("re");
        let refund = |status: &str| {
            json!({
                "id": id, "object": "refund", "amount": part, "currency": CURRENCY,
                "charge": paid.payment.charge, "payment_intent": paid.payment.intent,
                "status": status,
            })
        };
        let slow = teller.chance(50);
        let first = refund(if slow { "pending" } else { "succeeded" });
        teller.tell("refund.created", &first);
        let (before, after) = (paid.charge(self.back), paid.charge(self.back + part));
        teller.tell_change("charge.refunded", &before, &after);
        self.told.push(id.clone());
        self.ids.push(id.clone());
        if slow {
            teller.pause();
            teller.tell_change("refund.updated", &first, &refund("succeeded"));
        }
        if teller.chance(25) {
            // The running total falls again, which no event of the charge tells.
            teller.pause();
            teller.tell("refund.failed", &refund("failed"));
            self.told.push(format!("{id}:failed"));
        } else {
            self.back += part;
        }
    }

    /// A dispute about all of it.
    fn dispute(&mut self, teller: &mut Teller<'_>, paid: &Paid<'_>) {
        let id = teller.id("dp");
        let dispute = |status: &str| -> Value {
            json!({
                "id": id, "object": "dispute", "amount": paid.amount, "currency": CURRENCY,
                "charge": paid.payment.charge, "payment_intent": paid.payment.intent,
                "status": status,
            })
        };
        self.ids.push(id.clone());
        teller.pause();
        if teller.chance(30) {
            teller.tell("charge.dispute.created", &dispute("warning_needs_response"));
            teller.pause();
            teller.tell("charge.dispute.closed", &dispute("warning_closed"));
            return;
        }
        let open = dispute("needs_response");
        teller.tell("charge.dispute.created", &open);
        teller.tell("charge.dispute.funds_withdrawn", &open);
        self.told.push(id.clone());
        // Money that comes back in the second in which it went is no case that Stripe has.
        teller.now += 1;
        teller.pause();
        let answered = dispute("under_review");
        teller.tell_change("charge.dispute.updated", &open, &answered);
        if teller.chance(50) {
            teller.tell("charge.dispute.funds_reinstated", &dispute("won"));
            teller.tell("charge.dispute.closed", &dispute("won"));
            self.told.push(format!("{id}:reinstated"));
        } else {
            teller.tell("charge.dispute.closed", &dispute("lost"));
            self.back += paid.amount;
        }
    }
}
