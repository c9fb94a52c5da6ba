//! A subscription bought through Checkout: what Stripe sends within two seconds.
//!
//! The subscription is created and becomes active in the same second, so their order can't be read from
//! `created`: it follows from `previous_attributes` alone.

mod billing;

use serde_json::{Value, json};

use self::billing::InvoiceIs;
use super::{Actors, CURRENCY, PLAN};
use crate::stripe::event::Event;
use crate::stripe::ids::Ids;
use crate::stripe::shape::{Shape, list};

/// A month, for the purposes of a demo.
pub(super) const PERIOD_S: i64 = 30 * 24 * 60 * 60;

/// The price of a month, in cents, as the shapes of price, plan and invoice have it.
const AMOUNT: i64 = 1200;

/// How long the customer looked at the payment page.
const HESITATED_S: i64 = 40;

/// The identifiers of this purchase, and its time in unix seconds.
struct Purchase<'a> {
    who: &'a Actors,
    at: i64,
    session: String,
    item: String,
    invoice: String,
    line: String,
    invoice_payment: String,
    payment_intent: String,
    charge: String,
}

pub(super) fn events(ids: &mut Ids, who: &Actors, at: i64) -> Vec<Event> {
    let bought = Purchase {
        who,
        at,
        session: ids.next("cs_test"),
        item: ids.next("si"),
        invoice: ids.next("in"),
        line: ids.next("il"),
        invoice_payment: ids.next("inpay"),
        payment_intent: ids.next("pi"),
        charge: ids.next("ch"),
    };
    let (then, next) = (at, at + 1);
    let was_incomplete = json!({ "status": "incomplete", "default_payment_method": null });
    let active = json!({ "status": "active", "default_payment_method": who.payment_method });
    vec![
        Event::new(ids, "customer.created", then, bought.customer()),
        Event::new(
            ids,
            "payment_method.attached",
            then,
            bought.payment_method(),
        ),
        Event::new(
            ids,
            "customer.subscription.created",
            then,
            bought.subscription(json!({ "status": "incomplete" })),
        ),
        Event::new(
            ids,
            "invoice.created",
            then,
            bought.invoice(InvoiceIs::Draft),
        ),
        Event::new(
            ids,
            "invoice.finalized",
            then,
            bought.invoice(InvoiceIs::Open),
        ),
        Event::new(
            ids,
            "payment_intent.created",
            then,
            bought.payment_intent(false),
        ),
        Event::new(ids, "charge.succeeded", then, bought.charge()),
        Event::new(
            ids,
            "payment_intent.succeeded",
            then,
            bought.payment_intent(true),
        ),
        Event::updated(
            ids,
            "customer.subscription.updated",
            then,
            bought.subscription(active),
            was_incomplete,
        ),
        Event::new(ids, "invoice.paid", next, bought.invoice(InvoiceIs::Paid)),
        Event::new(
            ids,
            "invoice.payment_succeeded",
            next,
            bought.invoice(InvoiceIs::Paid),
        ),
        Event::new(ids, "invoice_payment.paid", next, bought.invoice_payment()),
        Event::new(ids, "checkout.session.completed", next, bought.session()),
    ]
}

impl Purchase<'_> {
    /// What the product put on the session and on the subscription.
    fn metadata(&self) -> Value {
        json!({ "user_id": self.who.user, "plan": PLAN })
    }

    fn customer(&self) -> Value {
        Shape::Customer.with(json!({ "id": self.who.customer, "created": self.at }))
    }

    fn payment_method(&self) -> Value {
        Shape::PaymentMethod.with(json!({
            "id": self.who.payment_method, "created": self.at, "customer": self.who.customer,
        }))
    }

    fn subscription(&self, now: Value) -> Value {
        let item = Shape::SubscriptionItem.with(json!({
            "id": self.item,
            "created": self.at,
            "current_period_start": self.at,
            "current_period_end": self.at + PERIOD_S,
            "plan": Shape::Plan.with(json!({})),
            "price": Shape::Price.with(json!({})),
            "subscription": self.who.subscription,
        }));
        let mut fields = json!({
            "id": self.who.subscription,
            "billing_cycle_anchor": self.at,
            "created": self.at,
            "customer": self.who.customer,
            "items": list(&format!("/v1/subscription_items?subscription={}", self.who.subscription), vec![item]),
            "latest_invoice": self.invoice,
            "metadata": self.metadata(),
            "start_date": self.at,
        });
        if let (Value::Object(fields), Value::Object(now)) = (&mut fields, now) {
            fields.extend(now);
        }
        Shape::Subscription.with(fields)
    }

    fn session(&self) -> Value {
        let opened = self.at - HESITATED_S;
        Shape::CheckoutSession.with(json!({
            "id": self.session,
            "amount_subtotal": AMOUNT,
            "amount_total": AMOUNT,
            "client_reference_id": self.who.user,
            "created": opened,
            "currency": CURRENCY,
            "customer": self.who.customer,
            "expires_at": opened + 24 * 60 * 60,
            "invoice": self.invoice,
            "metadata": self.metadata(),
            "mode": "subscription",
            "subscription": self.who.subscription,
        }))
    }
}
