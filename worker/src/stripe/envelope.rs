//! The event around the object, parsed once and before any transaction.

use hookledger_shared::model::book::Book;
use hookledger_shared::model::event::LedgerEvent;
use serde::Deserialize;
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
    /// Only of an answer to a question of ours: the events that it is newer than.
    pub(crate) covers: Option<Vec<String>>,
}

impl Envelope {
    /// Reads a row of the ledger.
    ///
    /// # Errors
    /// When the body is not JSON, or lacks what makes it an event about an object.
    pub fn read(event: &LedgerEvent) -> Result<Self, Unreadable> {
        let mut read = Self::parse(&event.event_id, event.body.as_bytes())?;
        if event.is_observation() {
            read.covers = Some(covers(event.body.as_bytes())?);
        }
        Ok(read)
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
            covers: None,
        })
    }

    /// An image of the object before what happened, where the event says what changed.
    pub(super) fn before<I>(&self, image: impl FnOnce(&Object) -> I) -> Option<I> {
        let previous = self.previous.as_ref()?;
        Some(image(&overlay::before(&self.object, previous)))
    }

    /// The object's id, if it is what its type promises.
    pub(super) fn id_of(&self, kind: &str) -> Result<String, Unreadable> {
        id_of(&self.object, kind)
    }
}

/// The id of an object that must be a `kind`; an absent word is no contradiction.
pub(super) fn id_of(object: &Object, kind: &str) -> Result<String, Unreadable> {
    let word = field::text(object, &["object"]);
    if word.is_some_and(|word| word != kind) {
        return Err(Unreadable::Field("data.object.object"));
    }
    let id = field::id(object, &["id"]).ok_or(Unreadable::Field("data.object.id"))?;
    Ok(id.to_owned())
}

/// What an observation has seen. The body alone does not make one: a sender could write this.
fn covers(body: &[u8]) -> Result<Vec<String>, Unreadable> {
    #[derive(Deserialize)]
    struct Body {
        observed: Observed,
    }
    #[derive(Deserialize)]
    struct Observed {
        covers: Vec<String>,
    }
    let body: Body =
        serde_json::from_slice(body).map_err(|_| Unreadable::Field("observed.covers"))?;
    Ok(body.observed.covers)
}
