//! What a product wrote into the metadata of whatever sells credits: a session, a payment
//! intent or a charge.

use hookledger_shared::config::MetadataNames;

use super::field::{self, Object};

/// What the product wrote on an object that sells credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackRead {
    /// The product's id of the purchase.
    pub purchase_id: Option<String>,
    /// Which pack.
    pub sku: String,
    /// How many: one when nothing is written, none when what is written is no count.
    pub quantity: Option<i64>,
}

/// The pack, if the object names one.
pub(super) fn read(object: &Object, names: &MetadataNames) -> Option<PackRead> {
    let quantity = field::metadata(object, &names.quantity);
    Some(PackRead {
        purchase_id: field::metadata(object, &names.purchase_id).map(str::to_owned),
        sku: field::metadata(object, &names.sku)?.to_owned(),
        quantity: quantity.map_or(Some(1), |text| {
            text.trim().parse().ok().filter(|count: &i64| *count > 0)
        }),
    })
}
