//! `payment_intent.succeeded` and `charge.*`: evidence that money was taken. They open a
//! purchase only when the product's own `purchase_id` is on them; what they know is the
//! total after tax and discount, so a checkout of the same purchase knows better.

use hookledger_shared::model::payment::{Evidence, RefundTotal};

use super::super::Case;
use super::super::affected::{self, Affected};
use super::super::credits::{self, Sale, Verdict};
use super::super::decision::{Changes, Decision};
use super::super::effects::Paid;
use super::super::facts::{Facts, Need};
use super::Paying;
use crate::stripe::charge::ChargeRead;
use crate::stripe::intent::PaidRead;
use crate::stripe::pack::PackRead;

pub(in super::super) fn needs(read: &PaidRead, facts: &Facts) -> Vec<Need> {
    let opens = opens(read).map(|(_, purchase)| purchase);
    let mut needs = credits::needs(&read.payment_id, opens, facts);
    let customer = read.customer_id.as_deref().filter(|_| opens.is_some());
    needs.extend(customer.into_iter().flat_map(affected::needs));
    needs
}

/// The pack and the purchase that it opens.
fn opens(read: &PaidRead) -> Option<(&PackRead, &str)> {
    let pack = read.pack.as_ref()?;
    Some((pack, pack.purchase_id.as_deref()?))
}

pub(in super::super) fn intent(case: &Case<'_>, read: &PaidRead) -> Decision {
    let paying = Paying::new(case, &read.payment_id);
    decide(case, read, paying, Evidence::Intent)
}

pub(in super::super) fn charge(case: &Case<'_>, read: &ChargeRead) -> Decision {
    let mut paying = Paying::new(case, &read.paid.payment_id);
    for refund in &read.refunds {
        // A list tells no history, so it yields to the refund's own events of that second.
        paying.refund(refund, -1);
    }
    if read.refunded > 0 {
        paying.refund_total(RefundTotal {
            charge_id: read.paid.id.clone(),
            amount: read.refunded,
            alone: read.alone,
            created: case.event.created,
        });
    }
    decide(case, &read.paid, paying, Evidence::Charge)
}

fn decide(case: &Case<'_>, read: &PaidRead, mut paying: Paying<'_>, kind: Evidence) -> Decision {
    let currency = read.currency.as_deref();
    paying.of_customer(read.customer_id.as_deref());
    if let (Some(amount), Some(currency)) = (read.captured, currency) {
        paying.capture(kind, &read.id, amount, currency);
    }
    let mut changes = Changes::default();
    let Some((pack, purchase_id)) = opens(read).filter(|_| read.captured.is_some()) else {
        credits::settle(case, paying.finish(), &mut changes);
        return Verdict::Fine.decision(false, changes);
    };
    let customer = read.customer_id.as_deref();
    let mut affected = customer.map(|customer| Affected::new(case, customer));
    let linked = affected.as_ref().and_then(Affected::user);
    let sale = Sale {
        pack,
        purchase_id,
        customer_id: customer,
        user_id: read.user_id.as_deref().or(linked).map(str::to_owned),
        amount: read.captured,
        currency,
        total: true,
        paid: read.captured.map(|amount| Paid {
            amount,
            currency: currency.unwrap_or_default().to_owned(),
            email: read.email.clone(),
        }),
    };
    let verdict = credits::sell(case, paying, &sale, &mut changes);
    if let Some(affected) = &mut affected
        && !changes.is_empty()
    {
        affected.touch();
    }
    if let Some(affected) = affected {
        affected.settle(&mut changes);
    }
    verdict.decision(false, changes)
}
