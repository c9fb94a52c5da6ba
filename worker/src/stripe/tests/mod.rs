//! One reading, whatever version rendered it. The fixtures are events in the shape of each
//! API version; the fields that moved between them stand where that version has them.

mod places;

use std::path::Path;

use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::checkout::CheckoutImage;
use hookledger_shared::model::customer::ScheduleImage;
use hookledger_shared::model::invoice::InvoiceImage;
use hookledger_shared::model::payment::ReversalImage;
use hookledger_shared::model::subscription::SubscriptionImage;

use super::charge::ChargeRead;
use super::intent::PaidRead;
use super::invoice::InvoiceRead;
use super::pack::PackRead;
use super::reversal::ReversalRead;
use super::schedule::ScheduleRead;
use super::session::SessionRead;
use super::subscription::SubscriptionRead;
use super::{Envelope, charge, intent, invoice, reversal, schedule, session, subscription};

/// Each version in which a field that we read moved, and the newest.
const VERSIONS: [&str; 5] = [
    "2022-11-15",
    "2024-06-20",
    "2025-03-31.basil",
    "2025-09-30.clover",
    "2026-09-30.endive",
];
/// When the period of the fixtures began.
const BEGAN: i64 = 1_760_000_000;
const MONTH: i64 = 2_592_000;

fn fixture(version: &str, name: &str) -> Envelope {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stripe");
    let path = folder.join(version).join(format!("{name}.json"));
    Envelope::parse("evt", &std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_version_tells_the_same_of_a_subscription() {
    let after = SubscriptionImage {
        status: "active".to_owned(),
        customer_id: Some("cus_QZr3".to_owned()),
        plan: Some("pro".to_owned()),
        quantity: Some(1),
        period_start: Some(BEGAN),
        period_end: Some(BEGAN + MONTH),
        ..SubscriptionImage::default()
    };
    let before = SubscriptionImage {
        status: "past_due".to_owned(),
        period_start: Some(BEGAN - MONTH),
        period_end: Some(BEGAN),
        ..after.clone()
    };
    let told = SubscriptionRead {
        id: "sub_1PgaKW".to_owned(),
        user_id: Some("user_42".to_owned()),
        after,
        covers: None,
        before: Some(before),
    };
    for version in VERSIONS {
        let envelope = fixture(version, "subscription_updated");
        let read = subscription::read(&envelope, &MetadataNames::default());
        assert_eq!(read.as_ref(), Ok(&told), "{version}");
    }
}

#[test]
fn every_version_tells_the_same_of_a_checkout() {
    let told = SessionRead {
        id: "cs_test_a1b2".to_owned(),
        after: CheckoutImage {
            mode: Some("payment".to_owned()),
            payment_status: Some("paid".to_owned()),
            failed: false,
            customer_id: Some("cus_QZr3".to_owned()),
            subscription_id: None,
            payment_intent_id: Some("pi_3PgaKZ".to_owned()),
            user_id: Some("user_42".to_owned()),
        },
        amount: Some(1_900),
        paid: Some(2_261),
        currency: Some("usd".to_owned()),
        email: Some("jenny.rosen@example.com".to_owned()),
        pack: Some(pack()),
    };
    for version in VERSIONS {
        let envelope = fixture(version, "checkout_session_completed");
        let read = session::read(&envelope, &MetadataNames::default());
        assert_eq!(read.as_ref(), Ok(&told), "{version}");
    }
}

fn pack() -> PackRead {
    PackRead {
        purchase_id: Some("pur_7".to_owned()),
        sku: "pack_100".to_owned(),
        quantity: Some(1),
    }
}

#[test]
fn every_version_tells_the_same_of_an_invoice() {
    let told = InvoiceRead {
        id: "in_1PgaKW".to_owned(),
        after: InvoiceImage {
            status: Some("paid".to_owned()),
            customer_id: Some("cus_QZr3".to_owned()),
            subscription_id: Some("sub_1PgaKW".to_owned()),
            billing_reason: Some("subscription_cycle".to_owned()),
            currency: Some("usd".to_owned()),
            amount_due: Some(1_200),
            amount_paid: Some(1_200),
            amount_remaining: Some(0),
            attempt_count: Some(2),
            next_attempt: None,
        },
        before: None,
        number: Some("F3A1B2C3-0002".to_owned()),
        email: Some("jenny.rosen@example.com".to_owned()),
        url: Some("https://invoice.stripe.com/i/acct_1/test_x".to_owned()),
    };
    for version in VERSIONS {
        let read = invoice::read(&fixture(version, "invoice_paid"));
        assert_eq!(read.as_ref(), Ok(&told), "{version}");
    }
}

/// What every version tells of the payment that the intent and its charge are of.
fn paid(id: &str) -> PaidRead {
    PaidRead {
        id: id.to_owned(),
        payment_id: "pi_3PgaKZ".to_owned(),
        customer_id: Some("cus_QZr3".to_owned()),
        captured: Some(1_900),
        currency: Some("usd".to_owned()),
        email: Some("jenny.rosen@example.com".to_owned()),
        user_id: Some("user_42".to_owned()),
        pack: Some(pack()),
    }
}

#[test]
fn every_version_tells_the_same_of_a_payment_intent() {
    for version in VERSIONS {
        let envelope = fixture(version, "payment_intent_succeeded");
        let read = intent::read(&envelope, &MetadataNames::default());
        assert_eq!(read, Ok(paid("pi_3PgaKZ")), "{version}");
    }
}

#[test]
fn every_version_tells_the_same_of_a_charge_but_whether_its_refunds_have_events() {
    for version in VERSIONS {
        let told = ChargeRead {
            paid: paid("ch_3PgaKZ"),
            refunded: 950,
            alone: matches!(version, "2022-11-15" | "2024-06-20"),
            refunds: Vec::new(),
        };
        let envelope = fixture(version, "charge_refunded");
        let read = charge::read(&envelope, &MetadataNames::default());
        assert_eq!(read, Ok(told), "{version}");
    }
}

#[test]
fn every_version_tells_the_same_of_a_refund_and_of_a_dispute() {
    let image = |amount, status: &str| ReversalImage {
        amount,
        currency: Some("usd".to_owned()),
        status: Some(status.to_owned()),
    };
    let refund = ReversalRead {
        id: "re_3PgaKZ".to_owned(),
        payment_id: "pi_3PgaKZ".to_owned(),
        after: image(950, "succeeded"),
        before: Some(image(950, "pending")),
    };
    let dispute = ReversalRead {
        id: "dp_1PgaKd".to_owned(),
        after: image(1_900, "needs_response"),
        before: Some(image(1_900, "needs_response")),
        ..refund.clone()
    };
    for version in VERSIONS {
        for (name, object, told) in [
            ("refund_updated", "refund", &refund),
            ("dispute_funds_withdrawn", "dispute", &dispute),
        ] {
            let read = reversal::read(&fixture(version, name), object);
            assert_eq!(read.as_ref(), Ok(told), "{version}");
        }
    }
}

#[test]
fn every_version_tells_the_same_of_a_schedule() {
    let after = ScheduleImage {
        status: Some("active".to_owned()),
        subscription_id: Some("sub_1PgaKW".to_owned()),
        cancels: false,
        phase_ends: Some(BEGAN + MONTH),
        last_phase_ends: Some(BEGAN + 2 * MONTH),
    };
    let told = ScheduleRead {
        id: "sub_sched_1PgaKe".to_owned(),
        customer_id: "cus_QZr3".to_owned(),
        before: Some(ScheduleImage {
            cancels: true,
            ..after.clone()
        }),
        after,
    };
    for version in VERSIONS {
        let read = schedule::read(&fixture(version, "subscription_schedule_updated"));
        assert_eq!(read.as_ref(), Ok(&told), "{version}");
    }
}
