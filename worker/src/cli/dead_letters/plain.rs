//! A stored row as plain JSON for people. Never fails: what has no plain form is shown the
//! way BSON writes it, since an operator looks at rows that are not as they should be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::{Binary, Bson, Document};
use serde_json::{Map, Value};

/// A document.
pub(super) fn object(document: &Document) -> Map<String, Value> {
    let fields = document.iter();
    fields
        .map(|(name, value)| (name.clone(), plain(value)))
        .collect()
}

fn plain(value: &Bson) -> Value {
    match value {
        Bson::Document(document) => Value::Object(object(document)),
        Bson::Array(items) => items.iter().map(plain).collect(),
        Bson::DateTime(date) => date
            .try_to_rfc3339_string()
            .map_or_else(|_| extended(value), Value::String),
        Bson::ObjectId(id) => Value::String(id.to_hex()),
        Bson::Binary(Binary { bytes, .. }) => Value::String(STANDARD.encode(bytes)),
        Bson::Null
        | Bson::Undefined
        | Bson::Boolean(_)
        | Bson::Int32(_)
        | Bson::Int64(_)
        | Bson::Double(_)
        | Bson::Decimal128(_)
        | Bson::String(_)
        | Bson::Symbol(_)
        | Bson::RegularExpression(_)
        | Bson::JavaScriptCode(_)
        | Bson::JavaScriptCodeWithScope(_)
        | Bson::Timestamp(_)
        | Bson::MaxKey
        | Bson::MinKey
        | Bson::DbPointer(_) => extended(value),
    }
}

/// The form that BSON has by itself.
fn extended(value: &Bson) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

/// One line a value, `lastError.kind  crashed`, for people.
pub(super) fn lines(object: &Map<String, Value>) -> Vec<[String; 2]> {
    let mut found = Vec::new();
    for (name, value) in object {
        walk(name.clone(), value, &mut found);
    }
    found
}

fn walk(path: String, value: &Value, found: &mut Vec<[String; 2]>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(format!("{path}.{name}"), value, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(format!("{path}[{index}]"), item, found);
            }
        }
        Value::String(text) => found.push([path, text.clone()]),
        Value::Null | Value::Bool(_) | Value::Number(_) => found.push([path, value.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, doc, oid::ObjectId};

    use super::*;

    #[test]
    fn every_row_can_be_shown() {
        let row = doc! {
            "_id": ObjectId::from_bytes([7; 12]),
            "epoch": 9_007_199_254_740_993_i64,
            "at": DateTime::from_millis(0),
            "odd": [Bson::MinKey, f64::NAN],
            "lastError": { "kind": "crashed" },
        };
        let text = Value::Object(object(&row)).to_string();
        for part in [
            "\"070707070707070707070707\"",
            "9007199254740993",
            "\"1970-01-01T00:00:00Z\"",
            "$minKey",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        let lines = lines(&object(&row));
        assert!(lines.contains(&["lastError.kind".to_owned(), "crashed".to_owned()]));
    }
}
