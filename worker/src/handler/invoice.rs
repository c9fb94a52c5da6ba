//! `invoice.*`: whether something was paid. A fact, and the cause of a receipt or of the
//! news that a payment failed; never a status of a subscription.

use hookledger_shared::model::invoice::{Invoice, InvoiceImage};

use super::affected::{self, Affected};
use super::decision::{Changes, Decision};
use super::facts::{Facts, Need};
use super::{About, Case, effects, register, time};
use crate::stripe::invoice::InvoiceRead;

const FAILED: &str = "invoice.payment_failed";

pub(super) fn needs(read: &InvoiceRead, facts: &Facts) -> Vec<Need> {
    let mut needs = vec![Need::Invoice(read.id.clone())];
    let customer = customer(read, facts.invoice(&read.id));
    needs.extend(customer.into_iter().flat_map(affected::needs));
    needs
}

/// Whose it is: Stripe never moves an invoice.
fn customer<'a>(read: &'a InvoiceRead, stored: Option<&'a Invoice>) -> Option<&'a str> {
    let told = read.after.customer_id.as_deref();
    told.max(stored.and_then(|stored| stored.customer_id.as_deref()))
}

pub(super) fn decide(case: &Case<'_>, read: &InvoiceRead) -> Decision {
    let event = case.event;
    let stored = case.facts.invoice(&read.id);
    let (mut invoice, stale) = document(event, read, stored);
    let customer = customer(read, stored);
    let mut affected = customer.map(|customer| Affected::new(case, customer));
    let mut changes = Changes::default();
    // By what this event shows: whether others came before it must not matter.
    let receipt = (is_paid(&read.after) && read.after.amount_paid.is_some_and(|paid| paid > 0))
        .then(|| effects::invoice_receipt(&event.book, &invoice, read));
    let failed = (event.kind == FAILED).then(|| {
        // Each attempt is a failure of its own, however many events tell of it.
        let attempt = read.after.attempt_count.unwrap_or(event.created);
        effects::payment_failed(&event.book, &invoice, read, attempt)
    });
    for owed in receipt.into_iter().chain(failed) {
        if invoice.emitted.contains(&owed.key) {
            continue;
        }
        invoice.emitted.push(owed.key.clone());
        invoice.emitted.sort();
        match &mut affected {
            Some(affected) => affected.message(owed),
            // No customer will ever bring a user.
            None => changes.effects.extend(effects::owed(&owed, None)),
        }
    }
    if stored != Some(&invoice) {
        invoice.version += 1;
        changes.invoices.push(invoice);
        if let Some(affected) = &mut affected {
            affected.touch();
        }
    }
    if let Some(affected) = affected {
        affected.settle(&mut changes);
    }
    if stale || changes.is_empty() {
        Decision::Stale(changes)
    } else {
        Decision::Apply(changes)
    }
}

/// The invoice with this news in it, and whether newer news was known.
fn document(event: &About, read: &InvoiceRead, stored: Option<&Invoice>) -> (Invoice, bool) {
    let seen = event.seen(rank(&event.kind), &read.after, read.before.as_ref());
    let register = stored.map(|stored| &stored.register);
    let taken = register::take(register, is_final(&read.after), event.created, seen);
    let invoice = Invoice {
        id: event.book.key(&read.id),
        account: event.book.account.clone(),
        livemode: event.book.livemode,
        invoice_id: read.id.clone(),
        customer_id: customer(read, stored).map(str::to_owned),
        next_attempt_at: taken.image.next_attempt.map(time),
        current: taken.image,
        paid: is_paid(&read.after) || stored.is_some_and(|stored| stored.paid),
        terminal: taken.register.terminal,
        provisional: taken.provisional,
        last_event_created: taken.register.created,
        register: taken.register,
        emitted: stored.map_or_else(Vec::new, |stored| stored.emitted.clone()),
        version: stored.map_or(0, |stored| stored.version),
    };
    (invoice, taken.stale)
}

fn is_paid(image: &InvoiceImage) -> bool {
    image.status.as_deref() == Some("paid")
}

/// Stripe's final statuses. An uncollectible one can still be paid.
fn is_final(image: &InvoiceImage) -> bool {
    matches!(image.status.as_deref(), Some("paid" | "void"))
}

/// How late in a life a type stands.
fn rank(kind: &str) -> i32 {
    match kind {
        "invoice.finalized" => 0,
        "invoice.payment_action_required" => 1,
        FAILED => 2,
        _ => 5,
    }
}
