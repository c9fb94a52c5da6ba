//! Joins one sale into the purchase it is about. Of versions that tell the same the oldest
//! statement leads, by the provider's second and then the event's id.

use hookledger_shared::config::Pack;
use hookledger_shared::model::purchase::{Purchase, PurchaseState, PurchaseVersion};

use super::super::Case;
use super::Sale;

/// Whether a checkout told what it is. Then what mere payments tell of it stands back.
pub(super) fn told_by_checkout(purchase: &Purchase) -> bool {
    purchase.versions.iter().any(|version| !version.total)
}

/// The purchase, with nothing but the payment noted.
pub(super) fn paid(case: &Case<'_>, sale: &Sale<'_>, payment_id: &str) -> Purchase {
    let mut purchase = stored(case, sale);
    note_payments(&mut purchase, [payment_id.to_owned()]);
    purchase
}

/// The purchase with this version in it.
pub(super) fn seen(case: &Case<'_>, sale: &Sale<'_>, mine: PurchaseVersion) -> Purchase {
    let mut purchase = stored(case, sale);
    note_payments(&mut purchase, mine.payments.iter().cloned());
    if !mine.total {
        purchase.versions.retain(|version| !version.total);
    }
    let versions = &mut purchase.versions;
    match versions.iter_mut().find(|known| same(known, &mine)) {
        Some(known) => {
            let older = (mine.created, &mine.event_id) < (known.created, &known.event_id);
            if older {
                known.created = mine.created;
                known.event_id = mine.event_id;
            }
            // What it was worth when it was first read stays, whatever the catalogue says now.
            known.credits = known.credits.or(mine.credits);
            for (known, mine) in [
                (&mut known.payments, mine.payments),
                (&mut known.asks, mine.asks),
            ] {
                known.extend(mine);
                known.sort();
                known.dedup();
            }
        }
        None => versions.push(mine),
    }
    versions.sort_by_key(fields);
    purchase
}

fn stored(case: &Case<'_>, sale: &Sale<'_>) -> Purchase {
    let book = &case.event.book;
    let known = case.facts.purchase(sale.purchase_id).cloned();
    known.unwrap_or_else(|| Purchase {
        id: book.key(sale.purchase_id),
        account: book.account.clone(),
        livemode: book.livemode,
        purchase_id: sale.purchase_id.to_owned(),
        state: PurchaseState::Pending,
        user_id: None,
        sku: None,
        granted: 0,
        reversed: 0,
        held: false,
        flags: Vec::new(),
        versions: Vec::new(),
        payments: Vec::new(),
        emitted: Vec::new(),
        version: 0,
    })
}

fn note_payments(purchase: &mut Purchase, payments: impl IntoIterator<Item = String>) {
    purchase.payments.extend(payments);
    purchase.payments.sort();
    purchase.payments.dedup();
}

/// Whether two versions tell the same of a purchase.
pub(super) fn same(one: &PurchaseVersion, other: &PurchaseVersion) -> bool {
    fields(one) == fields(other)
}

type Fields = (
    String,
    String,
    Option<i64>,
    Option<i64>,
    Option<String>,
    bool,
);

fn fields(version: &PurchaseVersion) -> Fields {
    let PurchaseVersion {
        user_id,
        sku,
        quantity,
        amount,
        currency,
        total,
        credits: _,
        payments: _,
        asks: _,
        created: _,
        event_id: _,
    } = version;
    (
        user_id.clone(),
        sku.clone(),
        *quantity,
        *amount,
        currency.clone(),
        *total,
    )
}

/// The sale as a version, paid by that payment if it was paid.
pub(super) fn version(
    case: &Case<'_>,
    sale: &Sale<'_>,
    user: &str,
    pack: &Pack,
    payment_id: &str,
) -> PurchaseVersion {
    let paid = sale.paid.as_ref().map(|_| payment_id.to_owned());
    PurchaseVersion {
        user_id: user.to_owned(),
        sku: sale.pack.sku.clone(),
        quantity: sale.pack.quantity,
        amount: sale.amount,
        currency: sale.currency.map(str::to_owned),
        total: sale.total,
        credits: worth(pack, sale),
        payments: paid.into_iter().collect(),
        asks: vec![payment_id.to_owned()],
        created: case.event.created,
        event_id: case.event.id.clone(),
    }
}

/// The credits, if the sale is what the catalogue asks for.
fn worth(pack: &Pack, sale: &Sale<'_>) -> Option<i64> {
    let quantity = sale.pack.quantity?;
    let fits =
        sale.amount == pack.amount.checked_mul(quantity) && sale.currency == Some(&pack.currency);
    fits.then(|| pack.credits.checked_mul(quantity)).flatten()
}
