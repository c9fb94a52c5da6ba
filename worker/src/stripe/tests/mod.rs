//! One reading, whatever version rendered it. The fixtures are events in the shape of each
//! API version; the fields that moved between them stand where that version has them.

mod places;

use std::path::Path;

use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::checkout::CheckoutImage;
use hookledger_shared::model::subscription::SubscriptionImage;

use super::session::{PackRead, SessionRead};
use super::subscription::SubscriptionRead;
use super::{Envelope, session, subscription};

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
        pack: Some(PackRead {
            purchase_id: Some("pur_7".to_owned()),
            sku: "pack_100".to_owned(),
            quantity: Some(1),
        }),
    };
    for version in VERSIONS {
        let envelope = fixture(version, "checkout_session_completed");
        let read = session::read(&envelope, &MetadataNames::default());
        assert_eq!(read.as_ref(), Ok(&told), "{version}");
    }
}
