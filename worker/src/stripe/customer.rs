//! A customer.

use hookledger_shared::config::MetadataNames;

use super::Unreadable;
use super::envelope::Envelope;
use super::field;

/// What an event says about a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerRead {
    /// Stripe's id.
    pub id: String,
    /// The product's user, by the customer's metadata.
    pub user_id: Option<String>,
    /// Deleted, for good.
    pub deleted: bool,
}

/// Reads a `customer.created`, `.updated` or `.deleted` event.
///
/// # Errors
/// When it is not a customer, or has no id.
pub fn read(envelope: &Envelope, names: &MetadataNames) -> Result<CustomerRead, Unreadable> {
    let object = &envelope.object;
    Ok(CustomerRead {
        id: envelope.id_of("customer")?,
        user_id: field::metadata(object, &names.user_id).map(str::to_owned),
        deleted: envelope.kind == "customer.deleted" || field::flag(object, &["deleted"]),
    })
}
