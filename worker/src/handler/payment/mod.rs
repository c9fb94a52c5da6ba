//! Money taken, and money that goes back: one document a payment, which every session,
//! intent, charge, refund and dispute about it writes, so that none of them misses another.
//!
//! - `paid`: payment intents and charges, evidence that money was taken
//! - `reversal`: refunds and disputes
//!
//! All of it ends in [`credits`](super::credits), where purchases follow from payments.

pub(super) mod paid;
pub(super) mod reversal;

use hookledger_shared::model::payment::{
    Capture, Dispute, Evidence, Payment, PaymentClaim, Refund, RefundTotal, ReversalImage,
};

use super::{Case, register};
use crate::stripe::reversal::ReversalRead;

/// A payment on its way to how an event leaves it. Of statements that say the same the
/// oldest stays, by the provider's second and then the event's id: sets only, so that order
/// doesn't matter.
#[derive(Debug)]
pub(super) struct Paying<'a> {
    case: &'a Case<'a>,
    payment: Payment,
}

impl<'a> Paying<'a> {
    /// As it is.
    pub(super) fn new(case: &'a Case<'a>, payment_id: &str) -> Self {
        let book = &case.event.book;
        let unseen = || Payment {
            id: book.key(payment_id),
            account: book.account.clone(),
            livemode: book.livemode,
            payment_id: payment_id.to_owned(),
            customer_id: None,
            claims: Vec::new(),
            captures: Vec::new(),
            refunds: Vec::new(),
            disputes: Vec::new(),
            refund_totals: Vec::new(),
            flags: Vec::new(),
            version: 0,
        };
        let known = case.facts.payment(payment_id).cloned();
        Self {
            case,
            payment: known.unwrap_or_else(unseen),
        }
    }

    /// The event says whose it is at the provider.
    pub(super) fn of_customer(&mut self, customer: Option<&str>) {
        let told = customer.map(str::to_owned);
        self.payment.customer_id = self.payment.customer_id.take().max(told);
    }

    /// The payment's id.
    pub(super) fn payment_id(&self) -> &str {
        &self.payment.payment_id
    }

    /// The event says which purchase it pays.
    pub(super) fn claim(&mut self, purchase: &str) {
        let claim = PaymentClaim {
            purchase_id: purchase.to_owned(),
            created: self.case.event.created,
            event_id: self.case.event.id.clone(),
        };
        let claims = &mut self.payment.claims;
        keep_oldest(
            claims,
            claim,
            |claim| claim.purchase_id.clone(),
            |claim| (claim.created, claim.event_id.clone()),
        );
    }

    /// The event proves that money was taken.
    pub(super) fn capture(
        &mut self,
        evidence: Evidence,
        source: &str,
        amount: i64,
        currency: &str,
    ) {
        let capture = Capture {
            source: source.to_owned(),
            evidence,
            amount,
            currency: currency.to_owned(),
            created: self.case.event.created,
            event_id: self.case.event.id.clone(),
        };
        let says = |capture: &Capture| {
            (
                capture.source.clone(),
                capture.amount,
                capture.currency.clone(),
            )
        };
        keep_oldest(&mut self.payment.captures, capture, says, |capture| {
            (capture.created, capture.event_id.clone())
        });
    }

    /// News of a refund of it. Answers whether it was stale.
    pub(super) fn refund(&mut self, read: &ReversalRead, rank: i32) -> bool {
        let failed = matches!(read.after.status.as_deref(), Some("failed" | "canceled"));
        let event = self.case.event;
        let seen = event.seen(rank, &read.after, read.before.as_ref());
        let refunds = &self.payment.refunds;
        let place = refunds.binary_search_by(|known| known.refund_id.cmp(&read.id));
        let stored = place.ok().map(|place| &refunds[place]);
        let register = stored.map(|stored| &stored.register);
        let taken = register::take(register, failed, event.created, seen);
        let refund = Refund {
            refund_id: read.id.clone(),
            current: taken.image,
            failed: taken.register.terminal,
            began: !failed || stored.is_some_and(|stored| stored.began),
            register: taken.register,
        };
        put(&mut self.payment.refunds, place, refund);
        taken.stale
    }

    /// News of a dispute about it. Answers whether it was stale.
    pub(super) fn dispute(&mut self, read: &ReversalRead) -> bool {
        let event = self.case.event;
        let closed = event.kind == "charge.dispute.closed";
        let rank = match event.kind.as_str() {
            "charge.dispute.created" => 0,
            "charge.dispute.closed" => 9,
            _ => 5,
        };
        let seen = event.seen(rank, &read.after, read.before.as_ref());
        let disputes = &self.payment.disputes;
        let place = disputes.binary_search_by(|known| known.dispute_id.cmp(&read.id));
        let stored = place.ok().map(|place| &disputes[place]);
        let register = stored.map(|stored| &stored.register);
        let taken = register::take(register, closed, event.created, seen);
        // The newest second in which it happened, of which there may be several.
        let second = |kind, known: Option<i64>| {
            let now = (event.kind == kind).then_some(event.created);
            now.max(known)
        };
        let dispute = Dispute {
            dispute_id: read.id.clone(),
            current: taken.image,
            formal: is_formal(&read.after) || stored.is_some_and(|stored| stored.formal),
            closed: closed || stored.is_some_and(|stored| stored.closed),
            withdrawn: second(
                "charge.dispute.funds_withdrawn",
                stored.and_then(|stored| stored.withdrawn),
            ),
            reinstated: second(
                "charge.dispute.funds_reinstated",
                stored.and_then(|stored| stored.reinstated),
            ),
            register: taken.register,
        };
        put(&mut self.payment.disputes, place, dispute);
        taken.stale
    }

    /// A charge's running total of refunds. Answers whether it was known.
    pub(super) fn refund_total(&mut self, total: RefundTotal) -> bool {
        let totals = &mut self.payment.refund_totals;
        let Err(place) = totals.binary_search(&total) else {
            return true;
        };
        totals.insert(place, total);
        false
    }

    /// Raises its flags and answers it.
    pub(super) fn finish(mut self) -> Payment {
        let flags = flags(&self.payment);
        self.payment.flags = flags.iter().map(|flag| flag.as_str().to_owned()).collect();
        self.payment.flags.sort();
        self.payment
    }
}

/// Something about a payment that a person should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// Money went back, and no purchase of credits is known that it was for.
    RefundWithoutGrant,
    /// A charge's running total is more than the refunds that are known.
    RefundDetailMissing,
    /// More was refunded than was paid.
    RefundedMoreThanPaid,
    /// Money went back in another currency than it came in.
    ReversalCurrency,
}

impl Flag {
    const fn as_str(self) -> &'static str {
        match self {
            Self::RefundWithoutGrant => "refund_without_grant",
            Self::RefundDetailMissing => "refund_detail_missing",
            Self::RefundedMoreThanPaid => "refunded_more_than_paid",
            Self::ReversalCurrency => "reversal_currency",
        }
    }
}

fn flags(payment: &Payment) -> Vec<Flag> {
    let reversed = !payment.refunds.is_empty()
        || !payment.disputes.is_empty()
        || !payment.refund_totals.is_empty();
    let refunds = payment.refunds.iter().filter(|refund| !refund.failed);
    let refunded = refunds.fold(0_i64, |sum, refund| {
        sum.saturating_add(refund.current.amount)
    });
    let captured = payment.captured();
    let raised = [
        (
            Flag::RefundWithoutGrant,
            reversed && payment.claims.is_empty(),
        ),
        (Flag::RefundDetailMissing, missing(payment) > 0),
        (
            Flag::RefundedMoreThanPaid,
            captured.is_some_and(|(amount, _)| refunded > amount),
        ),
        (
            Flag::ReversalCurrency,
            captured.is_some_and(|(_, currency)| {
                let refunds = payment.refunds.iter().map(|refund| &refund.current);
                let disputes = payment.disputes.iter().map(|dispute| &dispute.current);
                let mut all = refunds.chain(disputes);
                all.any(|image| !same_currency(image, currency))
            }),
        ),
    ];
    let raised = raised.into_iter().filter(|(_, is)| *is);
    raised.map(|(flag, _)| flag).collect()
}

/// Whether an amount can be compared with what was paid; one that names no currency can.
pub(super) fn same_currency(image: &ReversalImage, currency: &str) -> bool {
    let told = image.currency.as_deref();
    told.is_none_or(|told| told == currency)
}

/// What charges say was refunded beyond the refunds that are known. A total that was told
/// before a refund failed still counts it; a later one does not.
pub(super) fn missing(payment: &Payment) -> i64 {
    let known = |told: i64| {
        let counted = payment.refunds.iter();
        let counted = counted.filter(|refund| !(refund.failed && refund.register.created < told));
        counted.fold(0_i64, |sum, refund| {
            sum.saturating_add(refund.current.amount)
        })
    };
    let totals = payment.refund_totals.iter();
    let beyond = totals.map(|total| total.amount.saturating_sub(known(total.created)));
    // Of several charges of a payment only one succeeds.
    beyond.max().unwrap_or(0).max(0)
}

/// More than an inquiry: `warning_*` moves nothing, and one that was `prevented` never came.
fn is_formal(image: &ReversalImage) -> bool {
    let status = image.status.as_deref();
    status.is_some_and(|status| !status.starts_with("warning_") && status != "prevented")
}

fn put<T>(list: &mut Vec<T>, place: Result<usize, usize>, value: T) {
    match place {
        Ok(place) => list[place] = value,
        Err(place) => list.insert(place, value),
    }
}

/// Keeps one statement of each kind, ordered, the oldest.
fn keep_oldest<T, S: Ord, A: Ord>(
    known: &mut Vec<T>,
    new: T,
    says: impl Fn(&T) -> S,
    age: impl Fn(&T) -> A,
) {
    match known.binary_search_by(|known| says(known).cmp(&says(&new))) {
        Ok(place) if age(&known[place]) <= age(&new) => {}
        place => put(known, place, new),
    }
}
