//! Joins one event's evidence into the payment and the purchase it is about. Of statements
//! that say the same the oldest stays, by the provider's second and then the event's id.

use hookledger_shared::config::Pack;
use hookledger_shared::model::payment::{Capture, Payment, PaymentClaim};
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::super::Case;
use super::Evidence;

/// The payment with this evidence in it.
pub(super) fn payment(case: &Case<'_>, evidence: &Evidence<'_>) -> Payment {
    let event = case.event;
    let unseen = || Payment {
        id: event.book.key(evidence.payment_id),
        account: event.book.account.clone(),
        livemode: event.book.livemode,
        payment_id: evidence.payment_id.to_owned(),
        customer_id: None,
        claims: Vec::new(),
        captures: Vec::new(),
        version: 0,
    };
    let known = case.facts.payment(evidence.payment_id).cloned();
    let mut payment = known.unwrap_or_else(unseen);
    let customer = evidence.customer_id.map(str::to_owned);
    payment.customer_id = payment.customer_id.max(customer);
    let claim = PaymentClaim {
        purchase_id: evidence.purchase_id.to_owned(),
        created: event.created,
        event_id: event.id.clone(),
    };
    keep_oldest(
        &mut payment.claims,
        claim,
        |one, other| one.purchase_id == other.purchase_id,
        |claim| (claim.created, claim.event_id.clone()),
    );
    payment
        .claims
        .sort_by(|one, other| one.purchase_id.cmp(&other.purchase_id));
    if let Some(paid) = &evidence.paid {
        let capture = Capture {
            source: evidence.source.to_owned(),
            amount: paid.amount,
            currency: paid.currency.clone(),
            created: event.created,
            event_id: event.id.clone(),
        };
        let fields = |capture: &Capture| {
            let Capture {
                source,
                amount,
                currency,
                created: _,
                event_id: _,
            } = capture;
            (source.clone(), *amount, currency.clone())
        };
        keep_oldest(
            &mut payment.captures,
            capture,
            |one, other| fields(one) == fields(other),
            |capture| (capture.created, capture.event_id.clone()),
        );
        payment.captures.sort_by_key(fields);
    }
    payment
}

/// The purchase with this evidence in it, and the version that the evidence is of.
pub(super) fn purchase(case: &Case<'_>, evidence: &Evidence<'_>) -> (Purchase, PurchaseVersion) {
    let event = case.event;
    let unseen = || Purchase {
        id: event.book.key(evidence.purchase_id),
        account: event.book.account.clone(),
        livemode: event.book.livemode,
        purchase_id: evidence.purchase_id.to_owned(),
        state: PurchaseState::Pending,
        user_id: None,
        sku: None,
        granted: 0,
        flags: Vec::new(),
        versions: Vec::new(),
        emitted: Vec::new(),
        version: 0,
    };
    let known = case.facts.purchase(evidence.purchase_id).cloned();
    let mut purchase = known.unwrap_or_else(unseen);
    let mine = version(case, evidence);
    match purchase
        .versions
        .iter_mut()
        .find(|known| same(known, &mine))
    {
        Some(known) => {
            let older = (mine.created, &mine.event_id) < (known.created, &known.event_id);
            if older {
                known.created = mine.created;
                known.event_id.clone_from(&mine.event_id);
            }
            // What it was worth when it was first read stays, whatever the catalogue says now.
            known.credits = known.credits.or(mine.credits);
            known.payments.extend(mine.payments.iter().cloned());
            known.payments.sort();
            known.payments.dedup();
        }
        None => purchase.versions.push(mine.clone()),
    }
    purchase.versions.sort_by_key(fields);
    (purchase, mine)
}

/// Whether two versions tell the same of a purchase.
pub(super) fn same(one: &PurchaseVersion, other: &PurchaseVersion) -> bool {
    fields(one) == fields(other)
}

type Fields = (String, String, Option<i64>, Option<i64>, Option<String>);

fn fields(version: &PurchaseVersion) -> Fields {
    let PurchaseVersion {
        user_id,
        sku,
        quantity,
        amount,
        currency,
        credits: _,
        payments: _,
        created: _,
        event_id: _,
    } = version;
    (
        user_id.clone(),
        sku.clone(),
        *quantity,
        *amount,
        currency.clone(),
    )
}

fn version(case: &Case<'_>, evidence: &Evidence<'_>) -> PurchaseVersion {
    let event = case.event;
    let pack = case.rules.catalogue.get(evidence.sku);
    let paid = evidence
        .paid
        .as_ref()
        .map(|_| evidence.payment_id.to_owned());
    PurchaseVersion {
        user_id: evidence.user_id.clone(),
        sku: evidence.sku.to_owned(),
        quantity: evidence.quantity,
        amount: evidence.amount,
        currency: evidence.currency.map(str::to_owned),
        credits: pack.and_then(|pack| worth(pack, evidence)),
        payments: paid.into_iter().collect(),
        created: event.created,
        event_id: event.id.clone(),
    }
}

/// The credits, if the evidence is what the catalogue asks for.
fn worth(pack: &Pack, evidence: &Evidence<'_>) -> Option<i64> {
    let quantity = evidence.quantity?;
    let fits = evidence.amount == pack.amount.checked_mul(quantity)
        && evidence.currency == Some(&pack.currency);
    fits.then(|| pack.credits.checked_mul(quantity)).flatten()
}

fn keep_oldest<T, K: Ord>(
    known: &mut Vec<T>,
    new: T,
    same: impl Fn(&T, &T) -> bool,
    age: impl Fn(&T) -> K,
) {
    match known.iter_mut().find(|known| same(known, &new)) {
        Some(known) if age(known) <= age(&new) => {}
        Some(known) => *known = new,
        None => known.push(new),
    }
}
