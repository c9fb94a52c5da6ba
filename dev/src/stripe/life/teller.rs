//! Who tells a life: the book it is told in, the second in which things happen, and every
//! event so far.

use fastrand::Rng;
use hookledger_shared::model::book::{Book, OWN_ACCOUNT};
use serde_json::{Map, Value, json};

use crate::stripe::event::Event;
use crate::stripe::ids::Ids;
use crate::stripe::shape::API_VERSION;

/// See the module.
#[derive(Debug)]
pub(super) struct Teller<'a> {
    pub(super) random: Rng,
    pub(super) now: i64,
    pub(super) book: Book,
    ids: &'a mut Ids,
    events: Vec<Event>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(ids: &'a mut Ids, random: Rng, book: Book, now: i64) -> Self {
        Self {
            random,
            now,
            book,
            ids,
            events: Vec::new(),
        }
    }

    /// Everything that was told, in order.
    pub(super) fn events(self) -> Vec<Event> {
        self.events
    }

    /// Time passes: mostly none, so that a second holds many things.
    pub(super) fn pause(&mut self) {
        self.now += match self.random.u8(0..12) {
            0..7 => 0,
            7..9 => 1,
            9 => self.random.i64(2..90),
            10 => 86_400,
            _ => self.random.i64(1..40) * 86_400,
        };
    }

    /// Whether something happens that happens so often in a hundred.
    pub(super) fn chance(&mut self, percent: u8) -> bool {
        self.random.u8(0..100) < percent
    }

    pub(super) fn id(&mut self, prefix: &str) -> String {
        self.ids.next(prefix)
    }

    /// The object as it is now.
    pub(super) fn tell(&mut self, kind: &str, object: &Value) {
        let now = self.now;
        self.tell_at(now, kind, object, None);
    }

    /// The object as it is now, and what of it was otherwise before.
    pub(super) fn tell_change(&mut self, kind: &str, before: &Value, object: &Value) {
        let now = self.now;
        self.tell_at(now, kind, object, Some(&previous(before, object)));
    }

    /// The object as Stripe says it was in that second.
    pub(super) fn tell_at(
        &mut self,
        created: i64,
        kind: &str,
        object: &Value,
        previous: Option<&Value>,
    ) {
        let id = self.id("evt");
        let mut data = json!({ "object": object });
        if let Some(previous) = previous {
            data["previous_attributes"] = previous.clone();
        }
        let mut body = json!({
            "id": id, "object": "event", "api_version": API_VERSION, "created": created,
            "data": data, "livemode": self.book.livemode, "pending_webhooks": 1,
            "request": { "id": null, "idempotency_key": null }, "type": kind,
        });
        if self.book.account != OWN_ACCOUNT {
            body["account"] = json!(self.book.account);
        }
        self.events.push(Event {
            id,
            kind: kind.to_owned(),
            created,
            body: body.to_string(),
        });
    }
}

/// The old values of what changed: of an object its changed properties, of anything else
/// all of it; null for what was not there.
pub(super) fn previous(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return before.clone();
    };
    let mut changed = Map::new();
    for name in before.keys().chain(after.keys()) {
        let (old, new) = (before.get(name), after.get(name));
        if old != new {
            let old = old.unwrap_or(&Value::Null);
            let new = new.unwrap_or(&Value::Null);
            changed.insert(name.clone(), previous(old, new));
        }
    }
    changed.into()
}
