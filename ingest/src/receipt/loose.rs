//! JSON values as senders may write them: a field of an unexpected type reads as absent,
//! never as an error. Borrowed from the body where possible, and what nobody asked for is
//! passed over without building it: `serde_json` skips it without recursion, so depth
//! costs no stack.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value by its type. `T` is what is read of an object.
#[derive(Debug, Default)]
pub(super) enum Loose<'a, T = IgnoredAny> {
    Text(Cow<'a, str>),
    Whole(i64),
    Flag(bool),
    Object(T),
    /// Null, a list, a fraction, a number too large, or nothing at all.
    #[default]
    Other,
}

impl<'a, T> Loose<'a, T> {
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Whole(_) | Self::Flag(_) | Self::Object(_) | Self::Other => None,
        }
    }

    pub(super) fn flag(self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(flag),
            Self::Text(_) | Self::Whole(_) | Self::Object(_) | Self::Other => None,
        }
    }

    pub(super) fn object(self) -> Option<T> {
        match self {
            Self::Object(object) => Some(object),
            Self::Text(_) | Self::Whole(_) | Self::Flag(_) | Self::Other => None,
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Loose<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// Takes whatever comes.
struct Any<'a, T>(PhantomData<Loose<'a, T>>);

impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for Any<'a, T> {
    type Value = Loose<'a, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Loose::Whole(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Loose::Other, Loose::Whole))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Loose::Flag(flag))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Loose::Object)
    }
}
