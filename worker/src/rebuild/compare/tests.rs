//! What is a difference, what is none, and what is written when there is one.

use bson::doc;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::purchase::{Purchase, PurchaseState};
use hookledger_shared::store::{Customers, Purchases};

use super::*;
use crate::rebuild::kept::KEPT;

fn kept(name: &str) -> &'static Kept {
    KEPT.iter().find(|kept| kept.name == name).unwrap()
}

fn customer() -> Document {
    let customer = Customer::unknown(&Book::new(None, false), "cus_1");
    bson::serialize_to_document(&customer).unwrap()
}

fn purchase(user: Option<&str>, emitted: &[&str]) -> Document {
    let purchase = Purchase {
        id: "self:test:p1".to_owned(),
        account: "self".to_owned(),
        livemode: false,
        purchase_id: "p1".to_owned(),
        state: PurchaseState::Conflict,
        user_id: user.map(str::to_owned),
        sku: None,
        granted: 0,
        reversed: 0,
        held: false,
        payments: Vec::new(),
        flags: Vec::new(),
        versions: Vec::new(),
        emitted: emitted.iter().map(|key| (*key).to_owned()).collect(),
        version: 1,
    };
    bson::serialize_to_document(&purchase).unwrap()
}

fn names(difference: Option<Difference>) -> Vec<String> {
    match difference {
        None => Vec::new(),
        Some(Difference::Fields(fields)) => fields.into_iter().map(|field| field.name).collect(),
        Some(other @ (Difference::Missing | Difference::Extra)) => panic!("{other:?}"),
    }
}

#[test]
fn what_a_newer_or_an_older_version_wrote_is_no_difference() {
    let kept = kept(Customers::NAME);
    let mut live = customer();
    live.insert("newerField", doc! { "a": 1 });
    live.insert("version", 17_i64);
    live.remove("linkConflict");
    let rebuilt = customer();
    assert_eq!(documents(kept, Some(&live), Some(&rebuilt)), None);
    // And it stays as it is.
    let fields = fields(kept, Some(&live), &rebuilt);
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["linkConflict"]);
}

#[test]
fn a_difference_is_named_and_shows_nothing_personal() {
    let kept = kept(Customers::NAME);
    let mut live = customer();
    live.insert("userId", "jenny.rosen@example.com");
    live.insert("deleted", true);
    let view = live.get_document_mut("entitlement").unwrap();
    view.insert("status", "active");
    let difference = documents(kept, Some(&live), Some(&customer()));
    assert!(!format!("{difference:?}").contains("jenny"));
    assert!(format!("{difference:?}").contains("active"));
    assert_eq!(
        names(difference),
        ["userId", "deleted", "entitlement.status"]
    );
}

#[test]
fn a_document_that_can_not_be_read_differs() {
    let kept = kept(Customers::NAME);
    let mut live = customer();
    live.insert("links", 5);
    let difference = documents(kept, Some(&live), Some(&customer()));
    assert_eq!(names(difference), ["(unreadable)"]);
    let fields = fields(kept, Some(&live), &customer());
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["links"]);
}

#[test]
fn what_was_sent_may_be_more_but_never_less() {
    let kept = kept(Purchases::NAME);
    let (conflict, credits) = ("self:test:conflict:p1", "self:test:credits:p1:pack");
    let both = purchase(Some("user_1"), &[conflict, credits]);
    let one = purchase(Some("user_1"), &[conflict]);
    assert_eq!(documents(kept, Some(&both), Some(&one)), None);
    assert_eq!(names(documents(kept, Some(&one), Some(&both))), ["emitted"]);
    // Granted for a while or not: the order decides, and both are right.
    let (both, one) = (
        purchase(None, &[conflict, credits]),
        purchase(None, &[conflict]),
    );
    assert_eq!(documents(kept, Some(&one), Some(&both)), None);
    let none = purchase(None, &[]);
    assert_eq!(
        names(documents(kept, Some(&none), Some(&both))),
        ["emitted"]
    );
    // What is written remembers both sides.
    let live = purchase(None, &[credits]);
    assert_eq!(emitted(&fields(kept, Some(&live), &one)).len(), 2);
}
