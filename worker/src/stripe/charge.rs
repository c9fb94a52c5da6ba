//! A charge, with each field's places over time.

use hookledger_shared::config::MetadataNames;

use super::Unreadable;
use super::envelope::Envelope;
use super::field::{self, Object};
use super::intent::PaidRead;
use super::pack;
use super::reversal::{self, ReversalRead};

/// Since this version every refund has events of its own, and a charge's running total is
/// only a cross-check.
const REFUNDS_HAVE_EVENTS: &str = "2024-10-28";

/// What an event says about a charge.
#[derive(Debug, Clone, PartialEq)]
pub struct ChargeRead {
    /// That it was paid.
    pub paid: PaidRead,
    /// What was refunded of it so far, in minor units.
    pub refunded: i64,
    /// That sum is all there is: it lists no refunds, and in the version that rendered this
    /// they have no events of their own.
    pub alone: bool,
    /// The refunds it lists; since 2022-11-15 none.
    pub refunds: Vec<ReversalRead>,
}

/// Reads a `charge.*` event that is about the charge itself.
///
/// # Errors
/// When it is not a charge, or has no id.
pub fn read(envelope: &Envelope, names: &MetadataNames) -> Result<ChargeRead, Unreadable> {
    let id = envelope.id_of("charge")?;
    let object = &envelope.object;
    let text = |path: &[&str]| field::text(object, path).map(str::to_owned);
    let intent = field::id(object, &["payment_intent"]);
    let payment_id = intent.unwrap_or(&id).to_owned();
    let refunds: Vec<ReversalRead> = field::list(object, &["refunds"])
        .filter_map(|object| reversal::listed(object, &payment_id))
        .collect();
    let old = |version: &str| version < REFUNDS_HAVE_EVENTS;
    Ok(ChargeRead {
        refunded: refunded(object),
        alone: refunds.is_empty() && envelope.api_version.as_deref().is_some_and(old),
        refunds,
        paid: PaidRead {
            payment_id,
            customer_id: field::id(object, &["customer"]).map(str::to_owned),
            captured: captured(object),
            currency: text(&["currency"]).map(|text| text.to_ascii_lowercase()),
            email: text(&["receipt_email"]).or_else(|| text(&["billing_details", "email"])),
            user_id: field::metadata(object, &names.user_id).map(str::to_owned),
            pack: pack::read(object, names),
            id,
        },
    })
}

/// What went back of what was taken. What a partial capture lets go stands in Stripe's sum
/// as if it had been refunded.
fn refunded(object: &Object) -> i64 {
    let number = |name| field::integer(object, &[name]);
    let let_go = number("amount").zip(number("amount_captured"));
    let let_go = let_go.map_or(0, |(amount, captured)| amount.saturating_sub(captured));
    let told = number("amount_refunded").unwrap_or(0);
    told.saturating_sub(let_go.max(0)).max(0)
}

/// What was taken; versions before `amount_captured` only say whether the amount was. What
/// was only authorised is nothing yet.
fn captured(object: &Object) -> Option<i64> {
    let whole = || {
        let amount = field::integer(object, &["amount"])?;
        field::flag(object, &["captured"]).then_some(amount)
    };
    let captured = field::integer(object, &["amount_captured"]).or_else(whole);
    captured.filter(|amount| *amount > 0 && field::flag(object, &["paid"]))
}
