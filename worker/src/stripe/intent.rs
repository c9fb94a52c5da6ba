//! A payment intent, with each field's places over time.

use hookledger_shared::config::MetadataNames;

use super::Unreadable;
use super::envelope::Envelope;
use super::field;
use super::pack::{self, PackRead};

/// What an event says about a payment intent or a charge that was paid: both prove the same
/// thing, money taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidRead {
    /// Stripe's id.
    pub id: String,
    /// The payment it is part of: the payment intent, or a charge without one.
    pub payment_id: String,
    /// Whose it is at Stripe; a guest has none.
    pub customer_id: Option<String>,
    /// What was taken, in minor units, if any was.
    pub captured: Option<i64>,
    /// Lower-case.
    pub currency: Option<String>,
    /// Where a receipt goes.
    pub email: Option<String>,
    /// The product's user, by the metadata.
    pub user_id: Option<String>,
    /// The credit pack that the product wrote on it.
    pub pack: Option<PackRead>,
}

/// Reads a `payment_intent.succeeded` event.
///
/// # Errors
/// When it is not a payment intent, or has no id.
pub fn read(envelope: &Envelope, names: &MetadataNames) -> Result<PaidRead, Unreadable> {
    let id = envelope.id_of("payment_intent")?;
    let object = &envelope.object;
    let amount = |name| field::integer(object, &[name]);
    Ok(PaidRead {
        payment_id: id.clone(),
        id,
        customer_id: field::id(object, &["customer"]).map(str::to_owned),
        // A partial capture receives less than the amount.
        captured: amount("amount_received").or_else(|| amount("amount")),
        currency: field::text(object, &["currency"]).map(str::to_ascii_lowercase),
        email: field::text(object, &["receipt_email"]).map(str::to_owned),
        user_id: field::metadata(object, &names.user_id).map(str::to_owned),
        pack: pack::read(object, names),
    })
}
