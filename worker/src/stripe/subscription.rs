//! A subscription, with each field's places over time.

use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::subscription::SubscriptionImage;

use super::Unreadable;
use super::envelope::{self, Envelope};
use super::field::{self, Object};

/// What an event says about a subscription.
#[derive(Debug, Clone, PartialEq)]
pub struct SubscriptionRead {
    /// Stripe's id.
    pub id: String,
    /// The product's user, by the subscription's metadata.
    pub user_id: Option<String>,
    /// The subscription after what happened.
    pub after: SubscriptionImage,
    /// The subscription before it; only updates say so.
    pub before: Option<SubscriptionImage>,
    /// Only of an answer to a question of ours: the events that it is newer than.
    pub covers: Option<Vec<String>>,
}

/// Reads a `customer.subscription.*` event.
///
/// # Errors
/// When it is not a subscription, or has no id or no status.
pub fn read(envelope: &Envelope, names: &MetadataNames) -> Result<SubscriptionRead, Unreadable> {
    let after = &envelope.object;
    let before = envelope.before(|before| image(before, names));
    Ok(SubscriptionRead {
        before: before.flatten(),
        covers: envelope.covers.clone(),
        ..read_object(after, names)?
    })
}

/// Reads a subscription by itself, as the API gives it.
///
/// # Errors
/// When it is not a subscription, or has no id or no status.
pub fn read_object(object: &Object, names: &MetadataNames) -> Result<SubscriptionRead, Unreadable> {
    Ok(SubscriptionRead {
        id: envelope::id_of(object, "subscription")?,
        user_id: field::metadata(object, &names.user_id).map(str::to_owned),
        after: image(object, names).ok_or(Unreadable::Field("data.object.status"))?,
        before: None,
        covers: None,
    })
}

fn image(object: &Object, names: &MetadataNames) -> Option<SubscriptionImage> {
    let item = field::list(object, &["items"]).next();
    let (period_start, period_end) = period(object);
    Some(SubscriptionImage {
        status: field::text(object, &["status"])?.to_owned(),
        customer_id: field::id(object, &["customer"]).map(str::to_owned),
        plan: plan(object, item, names).map(str::to_owned),
        quantity: item
            .and_then(|item| field::integer(item, &["quantity"]))
            .or_else(|| field::integer(object, &["quantity"])),
        period_start,
        period_end,
        cancel_at_period_end: field::flag(object, &["cancel_at_period_end"]),
        cancel_at: field::seconds(object, &["cancel_at"]),
        canceled_at: field::seconds(object, &["canceled_at"]),
        ended_at: field::seconds(object, &["ended_at"]),
        trial_end: field::seconds(object, &["trial_end"]),
        collection_paused: field::at(object, &["pause_collection"]).is_some(),
    })
}

/// The period that ends last. Since 2025-03-31.basil each item has its own; before that the
/// subscription had one.
fn period(object: &Object) -> (Option<i64>, Option<i64>) {
    let of = |place| {
        let end = field::seconds(place, &["current_period_end"])?;
        Some((end, field::seconds(place, &["current_period_start"])))
    };
    let last = field::list(object, &["items"]).filter_map(of).max();
    match last.or_else(|| of(object)) {
        Some((end, start)) => (start, Some(end)),
        None => (None, None),
    }
}

/// The product's own word, else the price's lookup key, else its id. Prices were plans
/// before 2020 and both stand there still; a subscription of one item repeated it on top.
fn plan<'a>(
    object: &'a Object,
    item: Option<&'a Object>,
    names: &MetadataNames,
) -> Option<&'a str> {
    field::metadata(object, &names.plan)
        .or_else(|| field::text(item?, &["price", "lookup_key"]))
        .or_else(|| field::id(item?, &["price"]))
        .or_else(|| field::id(item?, &["plan"]))
        .or_else(|| field::id(object, &["plan"]))
}
