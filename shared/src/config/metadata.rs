//! `[metadata]`: what a product calls the keys it sets on Stripe's objects.

use super::area::Area;
use super::fault::{Checked, Faults};
use super::raw::Raw;

/// Stripe's own limit for the name of a metadata key.
const MAX_KEY_CHARACTERS: usize = 40;

/// The names of the metadata keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataNames {
    /// Whose it is, in the product's own terms.
    pub user_id: String,
    /// The plan of a subscription.
    pub plan: String,
    /// The purchase of credits, minted before the checkout.
    pub purchase_id: String,
    /// The credit pack, as the catalogue names it.
    pub sku: String,
    /// How many packs.
    pub quantity: String,
}

impl Default for MetadataNames {
    fn default() -> Self {
        Self {
            user_id: "user_id".to_owned(),
            plan: "plan".to_owned(),
            purchase_id: "purchase_id".to_owned(),
            sku: "sku".to_owned(),
            quantity: "quantity".to_owned(),
        }
    }
}

impl MetadataNames {
    pub(super) fn read(raw: &Raw, faults: &mut Faults) -> Checked<Self> {
        let area = Area::of(raw, "metadata");
        let user_id = read_key(&area, "user_id", faults);
        let plan = read_key(&area, "plan", faults);
        let purchase_id = read_key(&area, "purchase_id", faults);
        let sku = read_key(&area, "sku", faults);
        let quantity = read_key(&area, "quantity", faults);
        let names = Self {
            user_id: user_id?,
            plan: plan?,
            purchase_id: purchase_id?,
            sku: sku?,
            quantity: quantity?,
        };
        names.check_distinct(&area, faults)?;
        Ok(names)
    }

    /// Two meanings under one key would read one as the other.
    fn check_distinct(&self, area: &Area<'_>, faults: &mut Faults) -> Checked<()> {
        let Self {
            user_id,
            plan,
            purchase_id,
            sku,
            quantity,
        } = self;
        let keys = [
            ("user_id", user_id),
            ("plan", plan),
            ("purchase_id", purchase_id),
            ("sku", sku),
            ("quantity", quantity),
        ];
        let keys = keys.map(|(name, key)| (area.key(name), key.as_str()));
        super::area::unique(keys, faults)
    }
}

fn read_key(area: &Area<'_>, name: &str, faults: &mut Faults) -> Checked<String> {
    let key = area.text(name, faults)?.unwrap_or(name);
    // Square brackets are the other thing that Stripe refuses in a key.
    if key.chars().count() <= MAX_KEY_CHARACTERS && !key.contains(['[', ']']) {
        return Ok(key.to_owned());
    }
    let rule = format!("must be 1 to {MAX_KEY_CHARACTERS} characters without [ and ]");
    Err(faults.add(area.key(name), rule))
}
