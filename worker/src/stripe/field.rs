//! One field, read without trust. Each reader answers `None` for what is missing, null or
//! of another type; what that means is the caller's decision.

use serde_json::{Map, Value};

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// Stripe promises that ids have at most 255 characters, and nothing else about them.
const MAX_ID_BYTES: usize = 1_020;

/// The value behind several names, one inside the other.
pub(super) fn at<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let start = object.get(*first)?;
    let found = rest
        .iter()
        .try_fold(start, |value, name| value.as_object()?.get(*name))?;
    (!found.is_null()).then_some(found)
}

/// Text that is not empty.
pub(super) fn text<'a>(object: &'a Object, path: &[&str]) -> Option<&'a str> {
    let text = at(object, path)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// An id: itself, or the object it was expanded to, deleted or not.
pub(super) fn id<'a>(object: &'a Object, path: &[&str]) -> Option<&'a str> {
    let id = match at(object, path)? {
        Value::String(id) => id,
        Value::Object(expanded) => expanded.get("id")?.as_str()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    (!id.is_empty() && id.len() <= MAX_ID_BYTES).then_some(id)
}

/// A whole number that fits.
pub(super) fn integer(object: &Object, path: &[&str]) -> Option<i64> {
    at(object, path)?.as_i64()
}

/// A time: whole seconds since 1970.
pub(super) fn seconds(object: &Object, path: &[&str]) -> Option<i64> {
    integer(object, path).filter(|seconds| *seconds >= 0)
}

/// True, and nothing else that might be meant so.
pub(super) fn flag(object: &Object, path: &[&str]) -> bool {
    at(object, path).and_then(Value::as_bool).unwrap_or(false)
}

/// The objects of a list (`{"object": "list", "data": […]}`).
pub(super) fn list<'a>(
    object: &'a Object,
    path: &[&str],
) -> impl Iterator<Item = &'a Object> + use<'a> {
    let data = at(object, path)
        .and_then(|list| list.as_object()?.get("data")?.as_array())
        .map_or(&[][..], Vec::as_slice);
    data.iter().filter_map(Value::as_object)
}

/// What the product wrote into an object's metadata under `name`.
pub(super) fn metadata<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    text(object, &["metadata", name])
}
