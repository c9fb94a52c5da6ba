//! `checkout.session.*`: a link between a user and a customer, and evidence of a payment.
//! Never a status: what the subscription is, its own events say. In payment mode, with a
//! pack on it, the evidence goes to [`credits`].

use hookledger_shared::model::checkout::{Checkout, CheckoutImage};
use hookledger_shared::model::customer::Via;
use hookledger_shared::model::payment::Evidence;

use super::affected::{self, Affected};
use super::credits::{self, Sale, Verdict};
use super::decision::{Changes, Decision};
use super::effects::Paid;
use super::facts::{Facts, Need};
use super::payment::Paying;
use super::{About, Case, register};
use crate::stripe::pack::PackRead;
use crate::stripe::session::SessionRead;

const COMPLETED: &str = "checkout.session.completed";

pub(super) fn needs(read: &SessionRead, facts: &Facts) -> Vec<Need> {
    let mut needs = vec![Need::Checkout(read.id.clone())];
    let customer = read.after.customer_id.as_deref();
    needs.extend(customer.into_iter().flat_map(affected::needs));
    if let Some(pack) = pack(read) {
        let payment = payment_id(read);
        needs.extend(credits::needs(
            payment,
            Some(purchase_id(read, pack)),
            facts,
        ));
    }
    needs
}

pub(super) fn decide(case: &Case<'_>, read: &SessionRead) -> Decision {
    let stored = case.facts.checkout(&read.id);
    let (checkout, stale) = document(case.event, read, stored);
    let changed = stored != Some(&checkout);
    let customer = read.after.customer_id.as_deref();
    let mut affected = customer.map(|customer| Affected::new(case, customer));
    if let Some(affected) = &mut affected {
        affected.link(read.after.user_id.as_deref(), Via::Checkout);
    }
    let linked = affected.as_ref().and_then(Affected::user);
    let user = read.after.user_id.as_deref().or(linked).map(str::to_owned);

    let mut changes = Changes::default();
    if changed {
        let version = checkout.version + 1;
        changes.checkouts.push(Checkout {
            version,
            ..checkout
        });
    }
    let verdict = match pack(read) {
        Some(pack) => sell(case, read, pack, user, &mut changes),
        None => Verdict::Fine,
    };
    if let Some(mut affected) = affected {
        if !changes.is_empty() {
            affected.touch();
        }
        affected.settle(&mut changes);
    }
    verdict.decision(stale, changes)
}

fn sell(
    case: &Case<'_>,
    read: &SessionRead,
    pack: &PackRead,
    user_id: Option<String>,
    changes: &mut Changes,
) -> Verdict {
    let customer_id = read.after.customer_id.as_deref();
    let paid = paid(read);
    let mut paying = Paying::new(case, payment_id(read));
    paying.of_customer(customer_id);
    if let Some(Paid {
        amount, currency, ..
    }) = &paid
    {
        paying.capture(Evidence::Session, &read.id, *amount, currency);
    }
    let sale = Sale {
        pack,
        purchase_id: purchase_id(read, pack),
        customer_id,
        user_id,
        amount: read.amount,
        currency: read.currency.as_deref(),
        total: false,
        paid,
    };
    credits::sell(case, paying, &sale, changes)
}

/// The session's pack, if it is one that sells any.
fn pack(read: &SessionRead) -> Option<&PackRead> {
    let payment = read.after.mode.as_deref() == Some("payment");
    read.pack.as_ref().filter(|_| payment)
}

/// The payment intent; a session that asked for no payment stands for itself.
fn payment_id(read: &SessionRead) -> &str {
    read.after.payment_intent_id.as_deref().unwrap_or(&read.id)
}

/// The product's own id, else the payment's stands in.
fn purchase_id<'a>(read: &'a SessionRead, pack: &'a PackRead) -> &'a str {
    pack.purchase_id.as_deref().unwrap_or(payment_id(read))
}

fn is_paid(image: &CheckoutImage) -> bool {
    matches!(
        image.payment_status.as_deref(),
        Some("paid" | "no_payment_required")
    )
}

/// What was paid, if it was. A session that says so without an amount proves no amount: zero
/// was captured.
fn paid(read: &SessionRead) -> Option<Paid> {
    is_paid(&read.after).then(|| Paid {
        amount: read.paid.unwrap_or(0),
        currency: read.currency.clone().unwrap_or_default(),
        email: read.email.clone(),
    })
}

/// The session with this news in it, and whether newer news was known.
fn document(event: &About, read: &SessionRead, stored: Option<&Checkout>) -> (Checkout, bool) {
    let rank = if event.kind == COMPLETED { 0 } else { 5 };
    let seen = event.seen(rank, &read.after, None);
    // That it was paid is final, as the end of a subscription is.
    let register = stored.map(|stored| &stored.register);
    let taken = register::take(register, is_paid(&read.after), event.created, seen);
    let checkout = Checkout {
        id: event.book.key(&read.id),
        account: event.book.account.clone(),
        livemode: event.book.livemode,
        session_id: read.id.clone(),
        customer_id: taken.image.customer_id.clone(),
        current: taken.image,
        register: taken.register,
        version: stored.map_or(0, |stored| stored.version),
    };
    (checkout, taken.stale)
}
