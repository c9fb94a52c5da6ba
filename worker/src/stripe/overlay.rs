//! The object before a change: the object after it, overlaid with `previous_attributes`.

use serde_json::Value;

use super::field::Object;

/// The object as it was. Objects are merged deeply and arrays replaced, because that is how
/// Stripe gives them; a null stands for what was not there.
pub(super) fn before(after: &Object, previous: &Object) -> Object {
    let mut before = after.clone();
    merge(&mut before, previous);
    before
}

/// No deeper than the parser lets a body be.
fn merge(under: &mut Object, over: &Object) {
    for (name, value) in over {
        match (under.get_mut(name), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over),
            (_, value) => {
                under.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::before;

    #[test]
    fn objects_are_merged_arrays_replaced_and_null_takes_away() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let after = object(json!({
            "status": "active", "metadata": {"plan": "pro", "new": "x"}, "items": {"data": [1, 2]},
            "kept": 1,
        }));
        let previous = object(json!({
            "status": "trialing", "metadata": {"plan": "basic", "new": null},
            "items": {"data": [3]}, "cancel_at": 5,
        }));
        let expected = json!({
            "status": "trialing", "metadata": {"plan": "basic", "new": null},
            "items": {"data": [3]}, "cancel_at": 5, "kept": 1,
        });
        assert_eq!(Value::Object(before(&after, &previous)), expected);
    }
}
