//! A payload as plain JSON: numbers are numbers and dates are RFC 3339, never the extended
//! JSON that BSON writes by itself (`{"$numberLong": "1"}`), which only MongoDB's own
//! drivers read.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::{Binary, Bson, DateTime, Document};
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// A document as plain JSON, its fields in their order.
pub(super) struct Json<'a>(pub(super) &'a Document);

struct Value<'a>(&'a Bson);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, &Value(value))?;
        }
        map.end()
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Bson::Null | Bson::Undefined => serializer.serialize_unit(),
            Bson::Boolean(value) => serializer.serialize_bool(*value),
            Bson::Int32(value) => serializer.serialize_i32(*value),
            Bson::Int64(value) => serializer.serialize_i64(*value),
            Bson::Double(value) if value.is_finite() => serializer.serialize_f64(*value),
            Bson::Double(_) => Err(S::Error::custom("a number is not finite")),
            Bson::Decimal128(value) => serializer.collect_str(value),
            Bson::String(value) | Bson::Symbol(value) => serializer.serialize_str(value),
            Bson::ObjectId(value) => serializer.collect_str(value),
            Bson::DateTime(value) => rfc3339(*value, serializer),
            Bson::Binary(Binary { bytes, .. }) => serializer.collect_str(&STANDARD.encode(bytes)),
            Bson::Document(value) => Json(value).serialize(serializer),
            Bson::Array(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(&Value(value))?;
                }
                seq.end()
            }
            Bson::RegularExpression(_)
            | Bson::JavaScriptCode(_)
            | Bson::JavaScriptCodeWithScope(_)
            | Bson::Timestamp(_)
            | Bson::MaxKey
            | Bson::MinKey
            | Bson::DbPointer(_) => Err(S::Error::custom("a value has no form in JSON")),
        }
    }
}

/// The years 1 to 9999, in milliseconds since 1970: RFC 3339 has four digits for a year, and
/// the driver writes the nearest date it can for any other.
const WRITABLE: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// A time as RFC 3339.
pub(super) fn rfc3339<S: Serializer>(time: DateTime, serializer: S) -> Result<S::Ok, S::Error> {
    if !WRITABLE.contains(&time.timestamp_millis()) {
        return Err(S::Error::custom("a date is outside of the years 1 to 9999"));
    }
    let text = time.try_to_rfc3339_string().map_err(S::Error::custom)?;
    serializer.serialize_str(&text)
}

#[cfg(test)]
mod tests {
    use bson::{doc, oid::ObjectId};

    use super::*;

    #[test]
    fn every_value_has_its_plain_form_and_keeps_its_place() {
        let id = ObjectId::from_bytes([7; 12]);
        let payload = doc! {
            "z": 9_007_199_254_740_993_i64,
            "small": 3,
            "share": 0.5,
            "at": DateTime::from_millis(1_700_000_000_123),
            "whole": DateTime::from_millis(1_700_000_000_000),
            "text": "$name",
            "$set": { "a.b": [true, Bson::Null, "é"] },
            "id": id,
            "bytes": Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2, 3] },
        };
        let expected = concat!(
            r#"{"z":9007199254740993,"small":3,"share":0.5,"at":"2023-11-14T22:13:20.123Z","#,
            r#""whole":"2023-11-14T22:13:20Z","text":"$name","#,
            r#""$set":{"a.b":[true,null,"é"]},"id":"070707070707070707070707","#,
            r#""bytes":"AQID"}"#,
        );
        assert_eq!(serde_json::to_string(&Json(&payload)).unwrap(), expected);
    }

    #[test]
    fn the_first_and_the_last_date_are_written_as_they_are() {
        for (millis, text) in [
            (*WRITABLE.start(), "0001-01-01T00:00:00Z"),
            (*WRITABLE.end(), "9999-12-31T23:59:59.999Z"),
        ] {
            let payload = doc! { "at": DateTime::from_millis(millis) };
            let expected = format!(r#"{{"at":"{text}"}}"#);
            assert_eq!(serde_json::to_string(&Json(&payload)).unwrap(), expected);
        }
    }

    #[test]
    fn what_has_no_plain_form_is_refused_instead_of_bent() {
        for value in [
            Bson::Double(f64::NAN),
            Bson::Double(f64::INFINITY),
            Bson::DateTime(DateTime::MAX),
            Bson::DateTime(DateTime::from_millis(WRITABLE.end() + 1)),
            Bson::DateTime(DateTime::from_millis(WRITABLE.start() - 1)),
            Bson::MinKey,
        ] {
            let payload = doc! { "value": value.clone() };
            assert!(serde_json::to_string(&Json(&payload)).is_err(), "{value:?}");
        }
    }
}
