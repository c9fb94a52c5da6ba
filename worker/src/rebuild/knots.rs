//! What a document hangs together with, and which events it names, read from its fields by
//! their names: what the ledger can't tell of one object, it can't tell of those that hang
//! on it. Pure.

use std::collections::BTreeSet;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document};
use hookledger_shared::model::book::Book;
use serde::Deserialize;

/// Fields that hold the id of another object.
const IDS: [&str; 8] = [
    "customerId",
    "subscriptionId",
    "sessionId",
    "paymentId",
    "paymentIntentId",
    "purchaseId",
    "invoiceId",
    // The object behind a piece of evidence.
    "source",
];
/// Fields that hold a list of such ids.
const LISTS: [&str; 1] = ["payments"];

/// A document's book and the rest of its key.
pub(super) fn of_key(key: &str) -> Option<(Book, &str)> {
    let mut parts = key.splitn(3, ':');
    let (account, mode, id) = (parts.next()?, parts.next()?, parts.next()?);
    let livemode = match mode {
        "live" => true,
        "test" => false,
        _ => return None,
    };
    Some((Book::new(Some(account), livemode), id))
}

/// Everything that the document with this key hangs together with, itself included.
pub(super) fn of_document(key: &str, document: &Document) -> BTreeSet<String> {
    let mut ids = BTreeSet::from([key.to_owned()]);
    if let Some((book, _)) = of_key(key) {
        walk(document, &mut |name, id| {
            if IDS.contains(&name) || LISTS.contains(&name) {
                ids.insert(book.key(id));
            }
        });
    }
    ids
}

/// The events that it names.
pub(super) fn events(document: &Document) -> BTreeSet<String> {
    let mut events = BTreeSet::new();
    walk(document, &mut |name, id| {
        if name == "eventId" {
            events.insert(id.to_owned());
        }
    });
    registers(document, &mut |register| {
        let seen = register.get_array("events").into_iter().flatten();
        let ids = seen.filter_map(|seen| seen.as_document()?.get_str("id").ok());
        events.extend(ids.map(str::to_owned));
    });
    events
}

/// Every register in it, its own and those of what it holds: refunds, disputes, schedules.
fn registers(document: &Document, found: &mut impl FnMut(&Document)) {
    for (name, value) in document {
        let inner = value.as_array().map_or(&[][..], Vec::as_slice);
        let inner = inner.iter().chain([value]).filter_map(Bson::as_document);
        for inner in inner {
            if name == "register" {
                found(inner);
            } else {
                registers(inner, found);
            }
        }
    }
}

/// Every text in it with the name of its field; those in a list have the list's.
fn walk(document: &Document, found: &mut impl FnMut(&str, &str)) {
    for (name, value) in document {
        visit(name, value, found);
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other BSON type holds no text"
)]
fn visit(name: &str, value: &Bson, found: &mut impl FnMut(&str, &str)) {
    match value {
        Bson::String(text) => found(name, text),
        Bson::Document(document) => {
            for (name, value) in document {
                visit(name, value, found);
            }
        }
        Bson::Array(values) => values.iter().for_each(|value| visit(name, value, found)),
        _ => {}
    }
}

/// What a row is about, by the fields that ingest wrote beside its body. Whose books can
/// only be guessed where the body can't be read: all that these can be.
pub(super) fn of_row(raw: &RawDocumentBuf) -> BTreeSet<String> {
    let text = |name| raw.get_str(name).ok();
    let modes = match raw.get_bool("livemode") {
        Ok(livemode) => vec![livemode],
        Err(_) => vec![false, true],
    };
    let ids = [text("objectId"), text("customerId")];
    let ids = ids.into_iter().flatten();
    ids.flat_map(|id| {
        let books = modes.iter().map(|mode| Book::new(text("account"), *mode));
        books.map(move |book| book.key(id))
    })
    .collect()
}

/// What an event is about, and when that was made at the provider.
pub(super) struct About {
    /// The object, its customer and its payment.
    pub(super) ids: BTreeSet<String>,
    /// The customer among them.
    customer: Option<String>,
    pub(super) created: Option<i64>,
}

#[derive(Deserialize)]
struct Body {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    id: Option<Id>,
    customer: Option<Id>,
    payment_intent: Option<Id>,
    created: Option<i64>,
}

/// An id, or the object with it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Expanded { id: String },
}

impl About {
    /// Reads the body of an event. What is not as expected is not known.
    pub(super) fn read(book: &Book, body: &[u8]) -> Self {
        let Ok(Body { data }) = serde_json::from_slice(body) else {
            return Self {
                ids: BTreeSet::new(),
                customer: None,
                created: None,
            };
        };
        let Object {
            id,
            customer,
            payment_intent,
            created,
        } = data.object;
        let key = |id: Option<Id>| {
            let (Id::Text(id) | Id::Expanded { id }) = id?;
            Some(book.key(&id))
        };
        let customer = key(customer);
        let ids = [key(id), customer.clone(), key(payment_intent)];
        Self {
            ids: ids.into_iter().flatten().collect(),
            customer,
            created,
        }
    }

    /// The object and its payment, without whose they are.
    pub(super) fn sale(&self) -> impl Iterator<Item = String> {
        let ids = self.ids.iter();
        ids.filter(|id| Some(*id) != self.customer.as_ref())
            .cloned()
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn a_document_hangs_on_what_its_fields_name_and_names_its_events() {
        let document = doc! {
            "customerId": "cus_1",
            "register": { "events": [{ "id": "e1", "after": { "paymentIntentId": "pi_1" } }] },
            "versions": [{ "payments": ["pi_2"], "eventId": "e2" }],
            "refunds": [{ "refundId": "re_1", "register": { "events": [{ "id": "e3" }] } }],
            "plan": "pro",
        };
        let knots = of_document("acct_1:live:sub_1", &document);
        let expected = ["cus_1", "pi_1", "pi_2", "sub_1"].map(|id| format!("acct_1:live:{id}"));
        assert_eq!(knots, expected.into());
        assert_eq!(
            events(&document),
            ["e1", "e2", "e3"].map(str::to_owned).into()
        );
    }

    #[test]
    fn an_object_is_known_whether_it_stands_there_or_its_id() {
        let body = br#"{"data":{"object":{"id":"in_1","customer":{"id":"cus_1"},"created":7}}}"#;
        let about = About::read(&Book::new(None, false), body);
        let expected = ["self:test:cus_1", "self:test:in_1"].map(str::to_owned);
        assert_eq!((about.ids, about.created), (expected.into(), Some(7)));
        let unknown = About::read(&Book::new(None, false), b"{}");
        assert_eq!(unknown.created, None);
    }
}
