//! What money that went back takes away: arithmetic on one payment's facts, the same in
//! every order. Each part is `floor(credits × part / paid)`, and the one that completes the
//! sum takes the remainder; together they never exceed the grant.

use hookledger_shared::model::payment::{Payment, ReversalImage};

use super::super::effects::Reason;
use super::super::payment::{missing, same_currency};

/// Something that took credits back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// Its entry's key after the book's prefix.
    pub(super) key: String,
    /// Why.
    pub(super) reason: Reason,
    /// How many, never negative.
    pub(super) credits: i64,
}

/// What is taken back of `granted` credits by what happened to the payment.
pub(super) fn taken(granted: i64, payment: &Payment) -> Vec<Taken> {
    let Some((paid, currency)) = payment.captured().filter(|(paid, _)| *paid > 0) else {
        return Vec::new();
    };
    let counts = |image: &ReversalImage| same_currency(image, currency);
    let refunds = payment.refunds.iter();
    let refunds = refunds.filter(|refund| !refund.failed && counts(&refund.current));
    let refunds = refunds.map(|refund| {
        let key = refund_key(&refund.refund_id);
        (key, Reason::Refund, refund.current.amount)
    });
    // The running total may be all there is; the details replace it when they come.
    let estimate = Some(missing(payment)).filter(|amount| *amount > 0);
    let estimate = estimate.map(|amount| {
        let key = format!("refund_total:{}", payment.payment_id);
        (key, Reason::Refund, amount)
    });
    let disputes = payment.disputes.iter();
    let disputes = disputes.filter(|dispute| dispute.is_withdrawn() && counts(&dispute.current));
    let disputes = disputes.map(|dispute| {
        let key = dispute_key(&dispute.dispute_id);
        (key, Reason::Dispute, dispute.current.amount)
    });
    let mut left = granted;
    let mut back = 0_i64;
    let mut taken = Vec::new();
    for (key, reason, amount) in refunds.chain(estimate).chain(disputes) {
        back = back.saturating_add(amount);
        let credits = if back >= paid {
            left
        } else {
            portion(granted, amount, paid).min(left)
        };
        left -= credits;
        taken.push(Taken {
            key,
            reason,
            credits,
        });
    }
    taken
}

/// The key of a refund's entry.
pub(super) fn refund_key(refund: &str) -> String {
    format!("refund:{refund}")
}

/// The key of the entry for a dispute's money.
pub(super) fn dispute_key(dispute: &str) -> String {
    format!("dispute:{dispute}:withdrawn")
}

/// `floor(granted × part / whole)`, between nothing and all.
pub(super) fn portion(granted: i64, part: i64, whole: i64) -> i64 {
    if part >= whole {
        return granted;
    }
    let product = i128::from(granted) * i128::from(part.max(0));
    let portion = product.checked_div(i128::from(whole)).unwrap_or(0);
    i64::try_from(portion).map_or(granted, |portion| portion.clamp(0, granted))
}

#[cfg(test)]
mod tests {
    use super::portion;

    #[test]
    fn portions_are_rounded_down_and_stay_within_the_grant() {
        for (granted, part, whole, expected) in [
            (100, 333, 999, 33),
            (100, 500, 999, 50),
            (100, 999, 999, 100),
            (100, 5_000, 999, 100),
            (100, 0, 999, 0),
            (100, -5, 999, 0),
            (i64::MAX, i64::MAX - 1, i64::MAX, i64::MAX - 1),
        ] {
            assert_eq!(portion(granted, part, whole), expected);
        }
    }
}
