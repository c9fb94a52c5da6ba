//! What Stripe answered, as an event for the ledger. Pure.

use bson::DateTime;
use hookledger_shared::model::book::OWN_ACCOUNT;
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::model::observation::{SCOPE, TYPE};
use hookledger_shared::model::subscription::Subscription;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// What an observation's id begins with; its digest follows.
const ID: &str = "observed:";

/// The event that says: this is newer than all that `known` shows. Its second is that of
/// the newest news, since the set of that second is what it is an element of. The same
/// answer to the same question has the same id, so it is inserted once.
#[must_use]
pub fn event(known: &Subscription, object: &Map<String, Value>, at: DateTime) -> NewEvent {
    let register = &known.register;
    let covers: Vec<&str> = register
        .events
        .iter()
        .map(|seen| seen.id.as_str())
        .collect();
    let question = json!([
        known.id,
        register.terminal,
        register.created,
        covers,
        object
    ]);
    let id = format!("{ID}{}", hex::encode(Sha256::digest(question.to_string())));
    let account = (known.account != OWN_ACCOUNT).then(|| known.account.clone());
    let mut body = json!({
        "id": id,
        "object": "event",
        "type": TYPE,
        "created": register.created,
        "livemode": known.livemode,
        "data": { "object": object },
        "observed": { "covers": covers },
    });
    if let Some(account) = &account {
        body["account"] = json!(account);
    }
    NewEvent {
        event_id: id,
        provider: "stripe",
        scope: SCOPE.to_owned(),
        source: SCOPE.to_owned(),
        // Nobody signed it.
        secret_id: String::new(),
        event_type: Some(TYPE.to_owned()),
        created: Some(register.created),
        livemode: Some(known.livemode),
        account,
        api_version: None,
        object_id: Some(known.subscription_id.clone()),
        customer_id: known.customer_id.clone(),
        content_type: None,
        body: body.to_string().into(),
        problem: None,
        received_at: at,
    }
}
