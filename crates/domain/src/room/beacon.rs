//! The public value that an organiser names in advance, so that everybody can see that
//! the draw was not arranged. It is entered once it is known, and then stays.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::draw::{Beacon, MAX_BEACON_LEN};
use crate::account::is_line;

pub const MAX_BEACON_NAME_CHARS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value of a beacon is 1 to {MAX_BEACON_LEN} bytes in hexadecimal")]
pub struct NotABeaconValue;

/// What the beacon said: some bytes, written in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct BeaconValue(Vec<u8>);

impl BeaconValue {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for BeaconValue {
    type Err = NotABeaconValue;

    fn from_str(text: &str) -> Result<Self, NotABeaconValue> {
        let bytes = hex::decode(text).map_err(|_| NotABeaconValue)?;
        match (1..=MAX_BEACON_LEN).contains(&bytes.len()) {
            true => Ok(Self(bytes)),
            false => Err(NotABeaconValue),
        }
    }
}

impl fmt::Display for BeaconValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for BeaconValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BeaconValue({self})")
    }
}

impl Serialize for BeaconValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BeaconValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The beacon of a room as its organiser set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeaconSetting {
    /// What everybody can look up, such as "drand quicknet, round 14062912".
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<BeaconValue>,
}

impl BeaconSetting {
    pub fn has_sound_name(&self) -> bool {
        is_line(&self.name, MAX_BEACON_NAME_CHARS)
    }

    /// Whether it may be changed to this. Draws are told under a known value, so that one
    /// is fixed together with its name; before, the organiser may change their mind.
    pub fn may_become(&self, wanted: Option<&Self>) -> bool {
        self.value.is_none() || wanted == Some(self)
    }
}

impl From<Option<&BeaconSetting>> for Beacon {
    fn from(setting: Option<&BeaconSetting>) -> Self {
        let Some(BeaconSetting { name, value }) = setting else {
            return Self::Unused;
        };
        let name = name.clone();
        match value {
            None => Self::Awaited { name },
            Some(value) => Self::Known {
                name,
                value: value.as_bytes().to_vec(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: Option<&str>) -> BeaconSetting {
        BeaconSetting {
            name: name.to_owned(),
            value: value.map(|text| text.parse().unwrap()),
        }
    }

    #[test]
    fn a_value_is_one_to_64_bytes_in_hexadecimal() {
        for good in ["00", "0aFF", &"ab".repeat(64)] {
            let value: BeaconValue = good.parse().unwrap();
            assert_eq!(value.to_string(), good.to_lowercase());
        }
        for wrong in ["", "0", "0x", "zz", " 00", &"ab".repeat(65)] {
            assert_eq!(
                wrong.parse::<BeaconValue>(),
                Err(NotABeaconValue),
                "{wrong}"
            );
        }
        let text = serde_json::to_string(&setting("drand", Some("0aff"))).unwrap();
        assert_eq!(text, r#"{"name":"drand","value":"0aff"}"#);
        let read: BeaconSetting = serde_json::from_str(r#"{"name":"drand"}"#).unwrap();
        assert_eq!(read, setting("drand", None));
    }

    #[test]
    fn a_name_is_one_line_of_at_most_100_characters() {
        assert!(setting(&"ü".repeat(100), None).has_sound_name());
        for wrong in ["", " ", "two\nlines", &"x".repeat(101)] {
            assert!(!setting(wrong, None).has_sound_name(), "{wrong}");
        }
    }

    #[test]
    fn a_known_value_stays_under_its_name() {
        let (named, known) = (setting("a", None), setting("a", Some("01")));
        for wanted in [None, Some(&setting("b", None)), Some(&known)] {
            assert!(named.may_become(wanted), "{wanted:?}");
        }
        for wanted in [
            None,
            Some(&named),
            Some(&setting("a", Some("02"))),
            Some(&setting("b", Some("01"))),
        ] {
            assert!(!known.may_become(wanted), "{wanted:?}");
        }
        assert!(known.may_become(Some(&known.clone())));
    }

    #[test]
    fn nothing_is_drawn_while_a_named_beacon_has_no_value() {
        assert_eq!(Beacon::from(None), Beacon::Unused);
        let name = "a".to_owned();
        assert_eq!(
            Beacon::from(Some(&setting("a", None))),
            Beacon::Awaited { name: name.clone() }
        );
        assert_eq!(
            Beacon::from(Some(&setting("a", Some("01ff")))),
            Beacon::Known {
                name,
                value: vec![1, 255]
            }
        );
    }
}
