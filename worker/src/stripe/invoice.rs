//! An invoice, with each field's places over time.

use hookledger_shared::model::invoice::InvoiceImage;

use super::Unreadable;
use super::envelope::Envelope;
use super::field::{self, Object};

/// What an event says about an invoice.
#[derive(Debug, Clone, PartialEq)]
pub struct InvoiceRead {
    /// Stripe's id.
    pub id: String,
    /// The invoice after what happened.
    pub after: InvoiceImage,
    /// The invoice before it, where the event says.
    pub before: Option<InvoiceImage>,
    /// What is printed on it.
    pub number: Option<String>,
    /// Where a receipt goes.
    pub email: Option<String>,
    /// Where the customer can see and pay it.
    pub url: Option<String>,
}

/// Reads an `invoice.*` event.
///
/// # Errors
/// When it is not an invoice, or has no id (an upcoming one has none).
pub fn read(envelope: &Envelope) -> Result<InvoiceRead, Unreadable> {
    let id = envelope.id_of("invoice")?;
    let object = &envelope.object;
    let text = |name| field::text(object, &[name]).map(str::to_owned);
    Ok(InvoiceRead {
        id,
        after: image(object),
        before: envelope.before(image),
        number: text("number"),
        email: text("customer_email"),
        url: text("hosted_invoice_url"),
    })
}

fn image(object: &Object) -> InvoiceImage {
    let amount = |name| field::integer(object, &[name]);
    InvoiceImage {
        status: status(object).map(str::to_owned),
        customer_id: field::id(object, &["customer"]).map(str::to_owned),
        subscription_id: subscription(object).map(str::to_owned),
        billing_reason: field::text(object, &["billing_reason"]).map(str::to_owned),
        currency: field::text(object, &["currency"]).map(str::to_ascii_lowercase),
        amount_due: amount("amount_due"),
        amount_paid: amount("amount_paid"),
        amount_remaining: amount("amount_remaining"),
        attempt_count: amount("attempt_count"),
        next_attempt: field::seconds(object, &["next_payment_attempt"]),
    }
}

/// Its status; before it had one, `paid` alone told.
fn status(object: &Object) -> Option<&str> {
    let paid = field::flag(object, &["paid"]).then_some("paid");
    field::text(object, &["status"]).or(paid)
}

/// Since 2025-03-31.basil below `parent`, before that at the top.
fn subscription(object: &Object) -> Option<&str> {
    let parent = ["parent", "subscription_details", "subscription"];
    field::id(object, &parent).or_else(|| field::id(object, &["subscription"]))
}
