//! How the wire spells bytes, times and objects. Every value has one spelling, so that
//! two texts never mean the same signed challenge by accident.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

use crate::time::{LAST_MOMENT, Millis};

/// Lower-case hexadecimal digits to bytes.
pub(super) fn read_hex(text: &str, bytes: &mut [u8]) -> Option<()> {
    let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
    (lower && hex::decode_to_slice(text, bytes).is_ok()).then_some(())
}

/// Bytes of a known length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Hex<const N: usize>(pub [u8; N]);

impl<const N: usize> Hex<N> {
    pub fn read(text: &str) -> Option<Self> {
        let mut bytes = [0; N];
        read_hex(text, &mut bytes)?;
        Some(Self(bytes))
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom("not lower-case hexadecimal digits"))
    }
}

/// Whole seconds since 1970, never after [`LAST_MOMENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seconds(u64);

impl Seconds {
    const LAST: u64 = LAST_MOMENT.0 / 1_000;

    pub fn at_or_before(moment: Millis) -> Self {
        Self((moment.0 / 1_000).min(Self::LAST))
    }

    pub fn at_or_after(moment: Millis) -> Self {
        Self(moment.0.div_ceil(1_000).min(Self::LAST))
    }

    pub fn millis(self) -> Millis {
        Millis(self.0 * 1_000)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = u64::deserialize(deserializer)?;
        if seconds > Self::LAST {
            return Err(D::Error::custom("a time after the year 9999"));
        }
        Ok(Self(seconds))
    }
}

/// Reads a type from an object only. Derived types also take a list of their values.
pub(super) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// Reads a member that may be missing but is never null.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads one object and nothing after it.
pub(super) fn read_object<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = object(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}
