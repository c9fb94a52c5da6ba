//! The money side of the subscription: its first invoice, and the payment of it.

use serde_json::{Value, json};

use super::{AMOUNT, PERIOD_S, Purchase};
use crate::stripe::shape::{Shape, list};

/// How far the invoice is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InvoiceIs {
    /// Not yet numbered; may still change.
    Draft,
    /// Final, and waiting for its payment.
    Open,
    /// Final, and paid.
    Paid,
}

impl Purchase<'_> {
    pub(super) fn invoice(&self, is: InvoiceIs) -> Value {
        let subscription = &self.who.subscription;
        let item = json!({ "subscription": subscription, "subscription_item": self.item });
        let line = Shape::InvoiceLine.with(json!({
            "id": self.line,
            "invoice": self.invoice,
            "metadata": self.metadata(),
            "parent": { "subscription_item_details": item },
            "period": { "start": self.at, "end": self.at + PERIOD_S },
            "subscription": subscription,
        }));
        let details = json!({ "metadata": self.metadata(), "subscription": subscription });
        let mut fields = json!({
            "id": self.invoice,
            "created": self.at,
            "customer": self.who.customer,
            "lines": list(&format!("/v1/invoices/{}/lines", self.invoice), vec![line]),
            "parent": { "subscription_details": details },
            // As at Stripe, a first invoice looks back on no time at all.
            "period_start": self.at,
            "period_end": self.at,
        });
        let so_far = match is {
            InvoiceIs::Draft => json!({}),
            InvoiceIs::Open => self.finalized("open"),
            InvoiceIs::Paid => self.paid(),
        };
        if let (Value::Object(fields), Value::Object(so_far)) = (&mut fields, so_far) {
            fields.extend(so_far);
        }
        Shape::Invoice.with(fields)
    }

    fn finalized(&self, status: &str) -> Value {
        json!({
            "effective_at": self.at,
            "ending_balance": 0,
            "hosted_invoice_url": format!("https://invoice.stripe.com/i/{}", self.invoice),
            "invoice_pdf": format!("https://pay.stripe.com/invoice/{}/pdf", self.invoice),
            "number": "7D11B54A-0001",
            "status": status,
            "status_transitions": { "finalized_at": self.at },
        })
    }

    fn paid(&self) -> Value {
        let mut fields = self.finalized("paid");
        fields["amount_paid"] = AMOUNT.into();
        fields["amount_remaining"] = 0.into();
        fields["attempt_count"] = 1.into();
        fields["attempted"] = true.into();
        fields["status_transitions"]["paid_at"] = self.at.into();
        fields
    }

    pub(super) fn invoice_payment(&self) -> Value {
        Shape::InvoicePayment.with(json!({
            "id": self.invoice_payment,
            "created": self.at,
            "invoice": self.invoice,
            "payment": { "payment_intent": self.payment_intent, "type": "payment_intent" },
            "status_transitions": { "paid_at": self.at },
        }))
    }

    pub(super) fn payment_intent(&self, succeeded: bool) -> Value {
        let mut fields = json!({
            "id": self.payment_intent,
            "amount": AMOUNT,
            "client_secret": format!("{}_secret_{}", self.payment_intent, self.line),
            "created": self.at,
            "customer": self.who.customer,
            "description": "Subscription creation",
            "setup_future_usage": "off_session",
        });
        if succeeded {
            fields["amount_received"] = AMOUNT.into();
            fields["latest_charge"] = self.charge.clone().into();
            fields["payment_method"] = self.who.payment_method.clone().into();
            fields["status"] = "succeeded".into();
        }
        Shape::PaymentIntent.with(fields)
    }

    pub(super) fn charge(&self) -> Value {
        Shape::Charge.with(json!({
            "id": self.charge,
            "amount": AMOUNT,
            "amount_captured": AMOUNT,
            "created": self.at,
            "customer": self.who.customer,
            "description": "Subscription creation",
            "payment_intent": self.payment_intent,
            "payment_method": self.who.payment_method,
            "receipt_url": format!("https://pay.stripe.com/receipts/invoices/{}", self.invoice),
        }))
    }
}
