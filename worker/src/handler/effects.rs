//! The messages' keys and payloads, in one place. Keys are contracts: the same effect has
//! the same key for ever. Payloads are camelCase; times are RFC 3339 texts in UTC.

use bson::{Bson, DateTime, Document, doc};
use hookledger_shared::model::book::Book;
use hookledger_shared::model::customer::{Customer, Owed};
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

use super::decision::{Effect, Topic};
use crate::stripe::invoice::InvoiceRead;

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
                "changesAt": time(view.changes_at),
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

/// Why credits moved after they were granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// A refund took them back.
    Refund,
    /// That refund failed: they are there again.
    RefundFailed,
    /// A dispute took the money, and them with it.
    Dispute,
    /// The dispute's money came back.
    DisputeReinstated,
}

impl Reason {
    /// The text in payloads and entries.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::RefundFailed => "refund_failed",
            Self::Dispute => "dispute",
            Self::DisputeReinstated => "dispute_reinstated",
        }
    }
}

/// Credits of a purchase moved; negative ones were taken back. `of` names what moved them.
pub(super) fn credits_reversed(
    book: &Book,
    user: &str,
    purchase: &Purchase,
    of: &str,
    reason: Reason,
    credits: i64,
) -> Effect {
    let mut payload = about_purchase(book, user, purchase);
    payload.insert("credits", credits);
    payload.insert("reason", reason.as_str());
    payload.insert("reversed", purchase.reversed);
    Effect::Once {
        key: book.key(&format!("reversed:{of}")),
        topic: Topic::CreditsReversed,
        payload,
    }
}

/// A receipt for an invoice, but for the user.
pub(super) fn invoice_receipt(book: &Book, invoice: &Invoice, read: &InvoiceRead) -> Owed {
    let mut payload = about_invoice(book, invoice, read);
    payload.insert("amount", read.after.amount_paid);
    Owed {
        key: book.key(&format!("receipt:{}", invoice.invoice_id)),
        topic: Topic::EmailReceipt.as_str().to_owned(),
        payload,
    }
}

/// An invoice's payment failed for this time, but for the user.
pub(super) fn payment_failed(
    book: &Book,
    invoice: &Invoice,
    read: &InvoiceRead,
    attempt: i64,
) -> Owed {
    let mut payload = about_invoice(book, invoice, read);
    payload.insert("amount", invoice.current.amount_due);
    payload.insert("amountRemaining", invoice.current.amount_remaining);
    payload.insert("attempt", attempt);
    payload.insert("paid", invoice.paid);
    payload.insert("nextAttemptAt", time(invoice.next_attempt_at));
    Owed {
        key: book.key(&format!("payment_failed:{}:{attempt}", invoice.invoice_id)),
        topic: Topic::PaymentFailed.as_str().to_owned(),
        payload,
    }
}

/// What an invoice owed, as it goes out. None for a topic of a newer version.
pub(super) fn owed(owed: &Owed, user: Option<&str>) -> Option<Effect> {
    let mut topics = Topic::ALL.into_iter();
    let topic = topics.find(|topic| topic.as_str() == owed.topic)?;
    let mut payload = owed.payload.clone();
    payload.insert("userId", user);
    Some(Effect::Once {
        key: owed.key.clone(),
        topic,
        payload,
    })
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

fn about_invoice(book: &Book, invoice: &Invoice, read: &InvoiceRead) -> Document {
    in_book(
        book,
        doc! {
            "userId": Bson::Null,
            "customerId": &invoice.customer_id,
            "subscriptionId": &invoice.current.subscription_id,
            "invoiceId": &invoice.invoice_id,
            "number": &read.number,
            "currency": &invoice.current.currency,
            "billingReason": &invoice.current.billing_reason,
            "email": &read.email,
            "url": &read.url,
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
