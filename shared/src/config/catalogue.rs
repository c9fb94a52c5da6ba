//! `[catalogue.sku]`: what a credit pack is worth. What a customer paid is compared with
//! this, never with what the event claims it should cost.

use std::collections::BTreeMap;

use super::area::Area;
use super::fault::{Checked, Faults};
use super::number::Limits;
use super::raw::Raw;

/// No more than a JSON number carries exactly through any consumer (2^53 - 1).
const EXACT: i64 = 9_007_199_254_740_991;
const CREDITS: Limits = Limits {
    unit: "",
    min: 1,
    max: EXACT,
    default: 1,
};
/// Zero is a pack that is given away.
const AMOUNT: Limits = Limits {
    unit: "minor units",
    min: 0,
    max: EXACT,
    default: 0,
};
/// ISO 4217 codes have three letters.
const CURRENCY_LETTERS: usize = 3;

/// The packs by stock-keeping unit, as `metadata.sku` names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue(BTreeMap<String, Pack>);

/// One credit pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// How many credits it grants. At least one.
    pub credits: i64,
    /// What it costs, in the currency's minor units.
    pub amount: i64,
    /// The currency, in lower-case letters as Stripe writes it.
    pub currency: String,
}

impl Catalogue {
    /// The pack called `sku`.
    #[must_use]
    pub fn get(&self, sku: &str) -> Option<&Pack> {
        self.0.get(sku)
    }

    pub(super) fn read(raw: &Raw, faults: &mut Faults) -> Checked<Self> {
        let read: Vec<_> = Area::named(raw, "catalogue")
            .into_iter()
            .map(|(sku, area)| Ok((sku.to_owned(), read_pack(&area, faults)?)))
            .collect();
        Ok(Self(read.into_iter().collect::<Checked<_>>()?))
    }
}

impl FromIterator<(String, Pack)> for Catalogue {
    fn from_iter<I: IntoIterator<Item = (String, Pack)>>(packs: I) -> Self {
        Self(packs.into_iter().collect())
    }
}

fn read_pack(area: &Area<'_>, faults: &mut Faults) -> Checked<Pack> {
    let credits = area.required_integer("credits", &CREDITS, faults);
    let amount = area.required_integer("amount", &AMOUNT, faults);
    let currency = read_currency(area, faults);
    Ok(Pack {
        credits: credits?,
        amount: amount?,
        currency: currency?,
    })
}

fn read_currency(area: &Area<'_>, faults: &mut Faults) -> Checked<String> {
    let currency = area.required_text("currency", faults)?;
    if currency.len() == CURRENCY_LETTERS && currency.bytes().all(|b| b.is_ascii_lowercase()) {
        return Ok(currency.to_owned());
    }
    Err(faults.add(
        area.key("currency"),
        "must be three lower-case letters, such as usd",
    ))
}
