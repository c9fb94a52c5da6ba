//! A refund or a dispute: money of a payment that goes back, with each field's places over
//! time.

use hookledger_shared::model::payment::ReversalImage;

use super::Unreadable;
use super::envelope::Envelope;
use super::field::{self, Object};

/// What an event says about a refund or a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReversalRead {
    /// Stripe's id.
    pub id: String,
    /// The payment it is about: the payment intent, or a charge without one.
    pub payment_id: String,
    /// As it is after what happened.
    pub after: ReversalImage,
    /// As it was before, where the event says.
    pub before: Option<ReversalImage>,
}

/// Reads an event about an `object` that is a `refund` or a `dispute`.
///
/// # Errors
/// When it is something else, or has no id, no amount, or no payment that it is about.
pub fn read(envelope: &Envelope, object: &str) -> Result<ReversalRead, Unreadable> {
    let id = envelope.id_of(object)?;
    let object = &envelope.object;
    let payment = field::id(object, &["payment_intent"])
        .or_else(|| field::id(object, &["charge"]))
        .ok_or(Unreadable::Field("data.object.charge"))?;
    Ok(ReversalRead {
        id,
        payment_id: payment.to_owned(),
        after: image(object).ok_or(Unreadable::Field("data.object.amount"))?,
        before: envelope.before(image).flatten(),
    })
}

/// One of the refunds that a charge lists.
pub(super) fn listed(object: &Object, payment_id: &str) -> Option<ReversalRead> {
    Some(ReversalRead {
        id: field::id(object, &["id"])?.to_owned(),
        payment_id: payment_id.to_owned(),
        after: image(object)?,
        before: None,
    })
}

fn image(object: &Object) -> Option<ReversalImage> {
    Some(ReversalImage {
        amount: field::integer(object, &["amount"]).filter(|amount| *amount >= 0)?,
        currency: field::text(object, &["currency"]).map(str::to_ascii_lowercase),
        status: field::text(object, &["status"]).map(str::to_owned),
    })
}
