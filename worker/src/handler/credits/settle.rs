//! What a purchase comes to, from everything seen of it and of its payments: its state, its
//! flags, whom it grants how much, and the messages that follow.

use hookledger_shared::model::payment::{Evidence, Payment};
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::super::Case;
use super::super::affected::emit;
use super::super::decision::{Changes, Effect};
use super::super::effects::{self, Paid, Reason};
use super::entries::{self, Target};
use super::owns;
use super::reversal::{self, Taken, portion};

/// Something about a purchase that a person should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// Amount, currency or quantity are not the catalogue's.
    AmountMismatch,
    /// Events tell different things of one purchase.
    VersionsDiffer,
    /// Paid twice; one of them is a candidate for a refund.
    SecondPayment,
    /// One of its payments is claimed by another purchase, too.
    PaymentClaimedTwice,
}

impl Flag {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AmountMismatch => "amount_mismatch",
            Self::VersionsDiffer => "versions_differ",
            Self::SecondPayment => "second_payment",
            Self::PaymentClaimedTwice => "payment_claimed_twice",
        }
    }

    /// Whether the purchase is in conflict with it. A second payment is money to give back,
    /// but no doubt about the first.
    const fn is_conflict(self) -> bool {
        match self {
            Self::AmountMismatch | Self::VersionsDiffer | Self::PaymentClaimedTwice => true,
            Self::SecondPayment => false,
        }
    }
}

/// Brings the purchase's view, its entries and its effects to what was seen of it. Answers
/// which of its versions it grants for.
pub(super) fn settle(
    case: &Case<'_>,
    purchase: &mut Purchase,
    payments: &[&Payment],
    paid: Option<&Paid>,
    changes: &mut Changes,
) -> Option<PurchaseVersion> {
    let own: Vec<&Payment> = payments
        .iter()
        .copied()
        .filter(|payment| purchase.payments.contains(&payment.payment_id))
        .filter(|payment| owns(purchase, payment))
        .collect();
    let granted = granted(purchase, &own).cloned();
    let flags = flags(purchase, payments, &own);
    let conflict = flags.iter().any(|flag| flag.is_conflict());
    purchase.state = match (conflict, &granted) {
        (true, _) => PurchaseState::Conflict,
        (false, Some(_)) => PurchaseState::Granted,
        (false, None) => PurchaseState::Pending,
    };
    purchase.flags = flags.iter().map(|flag| flag.as_str().to_owned()).collect();
    let of_payments = own.iter().flat_map(|payment| payment.flags.iter().cloned());
    purchase.flags.extend(of_payments);
    purchase.flags.sort();
    purchase.flags.dedup();
    purchase.held = own
        .iter()
        .any(|payment| payment.disputes.iter().any(|dispute| dispute.holds()));
    let credits = granted.as_ref().and_then(|version| version.credits);
    purchase.granted = credits.unwrap_or(0);
    purchase.user_id = granted.as_ref().map(|version| version.user_id.clone());
    purchase.sku = granted.as_ref().map(|version| version.sku.clone());

    // What went back of a second payment takes nothing away while the other stands.
    let gone = |taken: &[Taken]| taken.iter().map(|taken| taken.credits).sum::<i64>();
    let least = own
        .iter()
        .map(|payment| (*payment, reversal::taken(purchase.granted, payment)))
        .min_by_key(|(payment, taken)| (gone(taken), payment.id.clone()));
    let taken = least
        .as_ref()
        .map_or(&[][..], |(_, taken)| taken.as_slice());
    purchase.reversed = gone(taken);
    let target = granted.as_ref().map(|version| Target {
        user: &version.user_id,
        granted: credits.unwrap_or(0),
        taken,
    });
    let entries = entries::missing(case, purchase, target.as_ref());
    changes.entries.extend(entries);
    let mut due = Vec::new();
    if conflict {
        due.push(effects::purchase_conflict(&case.event.book, purchase));
    }
    if let Some(version) = &granted {
        let (book, user) = (&case.event.book, &version.user_id);
        due.push(effects::credits_granted(book, user, purchase));
        due.push(effects::receipt(book, user, purchase, paid));
        let moved = least
            .as_ref()
            .map(|(payment, taken)| (payment.id.as_str(), taken));
        for payment in &own {
            // What goes back of the other payments moved nothing, and that is told.
            let taken = moved.filter(|(id, _)| *id == payment.id);
            let taken = taken.map(|(_, taken)| taken.as_slice());
            due.extend(reversed(case, user, purchase, payment, taken));
        }
    }
    due.retain(|effect| !is_told(case, purchase, effect));
    for effect in due {
        emit(effect, &mut purchase.emitted, changes);
    }
    granted
}

/// Whether another purchase has told it, which owned the payment before.
fn is_told(case: &Case<'_>, purchase: &Purchase, due: &Effect) -> bool {
    let others = case.facts.purchases.values().flatten();
    let mut others = others.filter(|other| other.id != purchase.id);
    match due {
        Effect::Once { key, .. } => others.any(|other| other.emitted.contains(key)),
        Effect::State { .. } => false,
    }
}

/// What there is to tell about money of one payment that went back. What once began is told
/// even where it was taken back before we heard of it, and the taking back with it: so what
/// is told does not depend on order. `taken` is what it took away; none where another
/// payment stands.
fn reversed(
    case: &Case<'_>,
    user: &str,
    purchase: &Purchase,
    payment: &Payment,
    taken: Option<&[Taken]>,
) -> Vec<Effect> {
    let book = &case.event.book;
    let tell = |of: &str, reason, credits| {
        effects::credits_reversed(book, user, purchase, of, reason, credits)
    };
    let paid = payment.captured().map_or(0, |(paid, _)| paid);
    let moved = |key: &str, amount| {
        let Some(taken) = taken.filter(|_| paid > 0) else {
            return 0;
        };
        let standing = taken.iter().find(|taken| taken.key == key);
        standing.map_or_else(
            || portion(purchase.granted, amount, paid),
            |taken| taken.credits,
        )
    };
    let mut due = Vec::new();
    for refund in payment.refunds.iter().filter(|refund| refund.began) {
        let id = &refund.refund_id;
        let credits = moved(&reversal::refund_key(id), refund.current.amount);
        due.push(tell(id, Reason::Refund, -credits));
        if refund.failed {
            due.push(tell(&format!("{id}:failed"), Reason::RefundFailed, credits));
        }
    }
    for total in payment.refund_totals.iter().filter(|total| total.alone) {
        let id = format!("{}:{}", total.charge_id, total.amount);
        due.push(tell(&id, Reason::Refund, -moved("", total.amount)));
    }
    let disputes = payment.disputes.iter();
    for dispute in disputes.filter(|dispute| dispute.withdrawn.is_some()) {
        let id = &dispute.dispute_id;
        let credits = moved(&reversal::dispute_key(id), dispute.current.amount);
        due.push(tell(id, Reason::Dispute, -credits));
        if dispute.reinstated.is_some() {
            let of = format!("{id}:reinstated");
            due.push(tell(&of, Reason::DisputeReinstated, credits));
        }
    }
    due
}

/// The oldest version that is as the catalogue asks and was paid by a payment of this
/// purchase's own. A later one changes nothing: a purchase grants once.
fn granted<'a>(purchase: &'a Purchase, own: &[&Payment]) -> Option<&'a PurchaseVersion> {
    let versions = purchase.versions.iter();
    versions
        .filter(|version| version.credits.is_some())
        .filter(|version| own.iter().any(|payment| pays(payment, version)))
        .min_by_key(|version| (version.created, &version.event_id))
}

/// Whether a payment paid this version: by its own word, or, where that came before the
/// money (a delayed method, a capture by hand), by that of the intent or the charge.
fn pays(payment: &Payment, version: &PurchaseVersion) -> bool {
    let captures = &mut payment.captures.iter();
    version.payments.contains(&payment.payment_id)
        || version.asks.contains(&payment.payment_id)
            && captures.any(|capture| capture.evidence > Evidence::Session && capture.amount > 0)
}

fn flags(purchase: &Purchase, payments: &[&Payment], own: &[&Payment]) -> Vec<Flag> {
    let claims = |payment: &&Payment| {
        let mut claims = payment.claims.iter();
        payment.claims.len() > 1 && claims.any(|claim| claim.purchase_id == purchase.purchase_id)
    };
    let wrong = purchase
        .versions
        .iter()
        .filter(|version| version.credits.is_none())
        .any(|version| {
            let mut own = own.iter();
            !version.payments.is_empty() || own.any(|payment| pays(payment, version))
        });
    let raised = [
        (Flag::AmountMismatch, wrong),
        (Flag::VersionsDiffer, purchase.versions.len() > 1),
        (Flag::SecondPayment, own.len() > 1),
        (Flag::PaymentClaimedTwice, payments.iter().any(claims)),
    ];
    let raised = raised.into_iter().filter(|(_, is)| *is);
    raised.map(|(flag, _)| flag).collect()
}
