//! A Checkout Session, with each field's places over time.

use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::checkout::CheckoutImage;

use super::Unreadable;
use super::envelope::Envelope;
use super::field::{self, Object};
use super::pack::{self, PackRead};

/// The session was not paid in the end.
const FAILED: &str = "checkout.session.async_payment_failed";

/// What an event says about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRead {
    /// Stripe's id.
    pub id: String,
    /// The session after what happened.
    pub after: CheckoutImage,
    /// What was to be paid, before tax and discount: `amount_subtotal`, or `amount_total`
    /// where that is absent.
    pub amount: Option<i64>,
    /// What was paid: `amount_total`.
    pub paid: Option<i64>,
    /// Lower-case.
    pub currency: Option<String>,
    /// Where a receipt goes.
    pub email: Option<String>,
    /// The credit pack that the product wrote on it.
    pub pack: Option<PackRead>,
}

/// Reads a `checkout.session.*` event.
///
/// # Errors
/// When it is not a session, or has no id.
pub fn read(envelope: &Envelope, names: &MetadataNames) -> Result<SessionRead, Unreadable> {
    let object = &envelope.object;
    let total = field::integer(object, &["amount_total"]);
    Ok(SessionRead {
        id: envelope.id_of("checkout.session")?,
        after: image(object, envelope.kind == FAILED, names),
        amount: field::integer(object, &["amount_subtotal"]).or(total),
        paid: total,
        currency: field::text(object, &["currency"]).map(str::to_ascii_lowercase),
        email: email(object).map(str::to_owned),
        pack: pack::read(object, names),
    })
}

fn image(object: &Object, failed: bool, names: &MetadataNames) -> CheckoutImage {
    let text = |name| field::text(object, &[name]).map(str::to_owned);
    let id = |name| field::id(object, &[name]).map(str::to_owned);
    let user = field::metadata(object, &names.user_id).map(str::to_owned);
    CheckoutImage {
        mode: text("mode"),
        payment_status: text("payment_status"),
        failed,
        customer_id: id("customer"),
        subscription_id: id("subscription"),
        payment_intent_id: id("payment_intent"),
        user_id: user.or_else(|| text("client_reference_id")),
    }
}

/// What the customer typed; older sessions only have what the product gave.
fn email(object: &Object) -> Option<&str> {
    field::text(object, &["customer_details", "email"])
        .or_else(|| field::text(object, &["customer_email"]))
}
