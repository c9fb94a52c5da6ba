//! Stripe's envelopes: snapshot events (`object: event`) and thin ones (`v2.core.event`),
//! as docs.stripe.com/api/events and /api/v2/core/events describe them.

use bson::DateTime;
use serde::Deserialize;

use super::loose::Loose;
use super::{Facts, Unreadable, seconds, short};

/// What a thin event calls itself.
const THIN: &str = "v2.core.event";
/// What a customer calls itself.
const CUSTOMER: &str = "customer";

/// The fields that we read; all others are passed over.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Loose<'a>,
    #[serde(borrow, default)]
    object: Loose<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow, default)]
    created: Loose<'a>,
    #[serde(borrow, default)]
    livemode: Loose<'a>,
    #[serde(borrow, default)]
    account: Loose<'a>,
    #[serde(borrow, default)]
    api_version: Loose<'a>,
    #[serde(borrow, default)]
    data: Loose<'a, Data<'a>>,
    /// Of thin events: what it is about.
    #[serde(borrow, default)]
    related_object: Loose<'a, Related<'a>>,
    /// Of thin events: the snapshot event that tells the same.
    #[serde(borrow, default)]
    snapshot_event: Loose<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    object: Loose<'a, Subject<'a>>,
}

/// The object that the event is about.
#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(borrow, default)]
    id: Loose<'a>,
    #[serde(borrow, default)]
    object: Loose<'a>,
    /// An id, or the customer itself where it is expanded.
    #[serde(borrow, default)]
    customer: Loose<'a, Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    id: Loose<'a>,
}

#[derive(Deserialize)]
struct Related<'a> {
    #[serde(borrow, default)]
    id: Loose<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Loose<'a>,
}

pub(super) fn read(body: &[u8]) -> Result<Facts, Unreadable> {
    let envelope: Loose<'_, Envelope<'_>> = serde_json::from_slice(body).map_err(|_| Unreadable)?;
    let envelope = envelope.object().ok_or(Unreadable)?;
    let thin = is(envelope.object, THIN);
    let snapshot = envelope.snapshot_event.text().and_then(short);
    let (object_id, customer_id) =
        match envelope.data.object().and_then(|data| data.object.object()) {
            Some(subject) => subject.ids(),
            None => envelope
                .related_object
                .object()
                .map_or((None, None), Related::ids),
        };
    Ok(Facts {
        event_id: snapshot
            .filter(|_| thin)
            .or_else(|| envelope.id.text().and_then(short)),
        event_type: envelope.kind.text().and_then(short),
        created: created(envelope.created),
        livemode: envelope.livemode.flag(),
        account: envelope.account.text().and_then(short),
        api_version: envelope.api_version.text().and_then(short),
        object_id,
        customer_id,
    })
}

impl Subject<'_> {
    /// The object's id and its customer's.
    fn ids(self) -> (Option<String>, Option<String>) {
        let id = self.id.text().and_then(short);
        let customer = match self.customer {
            Loose::Text(text) => short(text),
            Loose::Object(customer) => customer.id.text().and_then(short),
            Loose::Whole(_) | Loose::Flag(_) | Loose::Other => None,
        };
        let itself = is(self.object, CUSTOMER);
        let customer = customer.or_else(|| id.clone().filter(|_| itself));
        (id, customer)
    }
}

impl Related<'_> {
    fn ids(self) -> (Option<String>, Option<String>) {
        let id = self.id.text().and_then(short);
        let itself = is(self.kind, CUSTOMER);
        let customer = id.clone().filter(|_| itself);
        (id, customer)
    }
}

fn is(value: Loose<'_>, text: &str) -> bool {
    value.text().is_some_and(|value| value == text)
}

/// Whole seconds in snapshot events, RFC 3339 text in thin ones.
fn created(value: Loose<'_>) -> Option<i64> {
    match value {
        Loose::Whole(whole) => seconds(whole),
        Loose::Text(text) => {
            let time = DateTime::parse_rfc3339_str(text.as_ref()).ok()?;
            seconds(time.timestamp_millis().div_euclid(1_000))
        }
        Loose::Flag(_) | Loose::Object(_) | Loose::Other => None,
    }
}
