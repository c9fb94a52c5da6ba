//! The event around the object, parsed once and before any transaction.

use hookledger_shared::model::book::Book;
use hookledger_shared::model::event::LedgerEvent;
use serde_json::Value;

use super::field::{self, Object};
use super::{Unreadable, overlay};

/// What every event says.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The id it has in the ledger. A thin event has its snapshot twin's.
    pub id: String,
    /// Stripe's type, such as `customer.subscription.updated`.
    pub kind: String,
    /// Stripe's second. Not an order: different events share a second.
    pub created: i64,
    /// Whose books it belongs to.
    pub book: Book,
    /// The version of the API that rendered it.
    pub api_version: Option<String>,
    /// The object as it was right after what happened.
    pub(super) object: Object,
    /// The old values of what changed, on updates.
    pub(super) previous: Option<Object>,
}

impl Envelope {
    /// Reads a row of the ledger.
    ///
    /// # Errors
    /// When the body is not JSON, or lacks what makes it an event about an object.
    pub fn read(event: &LedgerEvent) -> Result<Self, Unreadable> {
        Self::parse(&event.event_id, event.body.as_bytes())
    }

    /// Reads a body that the ledger knows as `id`.
    pub(crate) fn parse(id: &str, body: &[u8]) -> Result<Self, Unreadable> {
        let body: Value = serde_json::from_slice(body).map_err(|error| Unreadable::NotJson {
            line: error.line(),
            column: error.column(),
        })?;
        let body = body.as_object().ok_or(Unreadable::Field("(body)"))?;
        let kind = field::text(body, &["type"]).ok_or(Unreadable::Field("type"))?;
        let created = field::seconds(body, &["created"]).ok_or(Unreadable::Field("created"))?;
        let livemode = field::at(body, &["livemode"]).and_then(Value::as_bool);
        let livemode = livemode.ok_or(Unreadable::Field("livemode"))?;
        let object = field::at(body, &["data", "object"]).and_then(Value::as_object);
        let previous = field::at(body, &["data", "previous_attributes"]);
        Ok(Self {
            id: id.to_owned(),
            kind: kind.to_owned(),
            created,
            book: Book::new(field::id(body, &["account"]), livemode),
            api_version: field::text(body, &["api_version"]).map(str::to_owned),
            object: object.ok_or(Unreadable::Field("data.object"))?.clone(),
            previous: previous.and_then(Value::as_object).cloned(),
        })
    }

    /// The object's id.
    fn object_id(&self) -> Result<&str, Unreadable> {
        field::id(&self.object, &["id"]).ok_or(Unreadable::Field("data.object.id"))
    }

    /// An image of the object before what happened, where the event says what changed.
    pub(super) fn before<I>(&self, image: impl FnOnce(&Object) -> I) -> Option<I> {
        let previous = self.previous.as_ref()?;
        Some(image(&overlay::before(&self.object, previous)))
    }

    /// The object's id, if it is what its type promises; an absent word is no
    /// contradiction.
    pub(super) fn id_of(&self, object: &str) -> Result<String, Unreadable> {
        let word = field::text(&self.object, &["object"]);
        if word.is_some_and(|word| word != object) {
            return Err(Unreadable::Field("data.object.object"));
        }
        self.object_id().map(str::to_owned)
    }
}
