//! The messages' keys and payloads, in one place. Keys are contracts: the same effect has
//! the same key for ever. Payloads are camelCase; times are RFC 3339 texts in UTC.

use bson::{Bson, DateTime, Document, doc};
use hookledger_shared::model::book::Book;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

use super::decision::{Effect, Topic};

/// What a customer may use, whole.
pub(crate) fn entitlement_changed(book: &Book, customer: &Customer) -> Effect {
    let view = &customer.entitlement;
    Effect::State {
        key: book.key(&format!("entitlement:{}", customer.customer_id)),
        topic: Topic::EntitlementChanged,
        subject: customer.id.clone(),
        version: customer.version,
        payload: in_book(
            book,
            doc! {
                "customerId": &customer.customer_id,
                "userId": &customer.user_id,
                "linkConflict": customer.link_conflict,
                "version": customer.version,
                "entitled": view.entitled,
                "status": &view.status,
                "plan": &view.plan,
                "quantity": view.quantity,
                "until": time(view.until),
                "endsAt": time(view.ends_at),
                "subscriptionId": &view.subscription_id,
                "provisional": view.provisional,
            },
        ),
    }
}

/// A subscription has begun.
pub(super) fn welcome(book: &Book, user: &str, subscription: &Subscription) -> Effect {
    Effect::Once {
        key: book.key(&format!("welcome:{}", subscription.subscription_id)),
        topic: Topic::Welcome,
        payload: about_subscription(book, user, subscription),
    }
}

/// A subscription is over.
pub(super) fn subscription_canceled(
    book: &Book,
    user: &str,
    subscription: &Subscription,
) -> Effect {
    let mut payload = about_subscription(book, user, subscription);
    payload.insert("canceledAt", time(subscription.canceled_at));
    payload.insert("endedAt", time(subscription.ended_at));
    Effect::Once {
        key: book.key(&format!("canceled:{}", subscription.subscription_id)),
        topic: Topic::SubscriptionCanceled,
        payload,
    }
}

/// A purchase was paid and granted.
pub(super) fn credits_granted(book: &Book, user: &str, purchase: &Purchase) -> Effect {
    Effect::Once {
        key: book.key(&format!("credits:{}:pack", purchase.purchase_id)),
        topic: Topic::CreditsGranted,
        payload: about_purchase(book, user, purchase),
    }
}

/// What was paid for a purchase, to be mailed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Paid {
    /// In minor units, after discounts and with taxes.
    pub(super) amount: i64,
    /// Lower-case.
    pub(super) currency: String,
    /// Where the receipt goes.
    pub(super) email: Option<String>,
}

/// A receipt for a purchase.
pub(super) fn receipt(book: &Book, user: &str, purchase: &Purchase, paid: Option<&Paid>) -> Effect {
    let mut payload = about_purchase(book, user, purchase);
    payload.insert("amount", paid.map(|paid| paid.amount));
    payload.insert("currency", paid.map(|paid| paid.currency.clone()));
    payload.insert("email", paid.and_then(|paid| paid.email.clone()));
    Effect::Once {
        key: book.key(&format!("receipt:{}", purchase.purchase_id)),
        topic: Topic::EmailReceipt,
        payload,
    }
}

/// A purchase needs a person.
pub(super) fn purchase_conflict(book: &Book, purchase: &Purchase) -> Effect {
    let flags: Vec<&str> = purchase.flags.iter().map(String::as_str).collect();
    Effect::Once {
        key: book.key(&format!("conflict:{}", purchase.purchase_id)),
        topic: Topic::PurchaseConflict,
        payload: in_book(
            book,
            doc! { "purchaseId": &purchase.purchase_id, "flags": flags },
        ),
    }
}

fn about_subscription(book: &Book, user: &str, subscription: &Subscription) -> Document {
    in_book(
        book,
        doc! {
            "userId": user,
            "customerId": &subscription.customer_id,
            "subscriptionId": &subscription.subscription_id,
            "plan": &subscription.plan,
            "quantity": subscription.quantity,
        },
    )
}

fn about_purchase(book: &Book, user: &str, purchase: &Purchase) -> Document {
    in_book(
        book,
        doc! {
            "userId": user,
            "purchaseId": &purchase.purchase_id,
            "sku": &purchase.sku,
            "credits": purchase.granted,
        },
    )
}

fn in_book(book: &Book, mut payload: Document) -> Document {
    payload.insert("account", book.account.as_str());
    payload.insert("livemode", book.livemode);
    payload
}

/// A time that a year has four digits for; none beyond.
fn time(at: Option<DateTime>) -> Option<Bson> {
    let text = at?.try_to_rfc3339_string().ok()?;
    Some(Bson::String(text))
}
