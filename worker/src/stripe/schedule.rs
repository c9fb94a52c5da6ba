//! A subscription schedule, with each field's places over time.

use hookledger_shared::model::customer::ScheduleImage;
use serde_json::Value;

use super::Unreadable;
use super::envelope::Envelope;
use super::field::{self, Object};

/// What an event says about a subscription schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRead {
    /// Stripe's id.
    pub id: String,
    /// Whose it is at Stripe.
    pub customer_id: String,
    /// The schedule after what happened.
    pub after: ScheduleImage,
    /// The schedule before it, where the event says.
    pub before: Option<ScheduleImage>,
}

/// Reads a `subscription_schedule.*` event.
///
/// # Errors
/// When it is not a schedule, or has no id or no customer.
pub fn read(envelope: &Envelope) -> Result<ScheduleRead, Unreadable> {
    let id = envelope.id_of("subscription_schedule")?;
    let customer = field::id(&envelope.object, &["customer"]);
    Ok(ScheduleRead {
        id,
        customer_id: customer
            .ok_or(Unreadable::Field("data.object.customer"))?
            .to_owned(),
        after: image(&envelope.object),
        before: envelope.before(image),
    })
}

fn image(object: &Object) -> ScheduleImage {
    // A released schedule names its subscription elsewhere.
    let subscription = field::id(object, &["subscription"])
        .or_else(|| field::id(object, &["released_subscription"]));
    ScheduleImage {
        status: field::text(object, &["status"]).map(str::to_owned),
        subscription_id: subscription.map(str::to_owned),
        cancels: field::text(object, &["end_behavior"]) == Some("cancel"),
        phase_ends: field::seconds(object, &["current_phase", "end_date"]),
        last_phase_ends: phases(object)
            .filter_map(|phase| field::seconds(phase, &["end_date"]))
            .max(),
    }
}

fn phases(object: &Object) -> impl Iterator<Item = &Object> {
    let phases = field::at(object, &["phases"]).and_then(Value::as_array);
    let phases = phases.map_or(&[][..], Vec::as_slice);
    phases.iter().filter_map(Value::as_object)
}
