//! Optional fields of a body. In one that makes something, or says how all of it shall
//! be, they are an `Option`, and `null` is the same as leaving them out. In one that
//! changes something `null` is a value of its own, taken only where it means "take this
//! away": where it cannot, nobody should believe that it did.

use serde::{Deserialize, Deserializer};

/// For `#[serde(default, deserialize_with = "present")]`. An `Option<T>` read this way
/// refuses `null`; an `Option<Option<T>>` tells `null` from a field left out.
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Body {
        #[serde(default, deserialize_with = "present")]
        kept: Option<u32>,
        #[serde(default, deserialize_with = "present")]
        cleared: Option<Option<u32>>,
    }

    #[test]
    fn null_is_told_from_a_field_left_out() {
        let read = |text: &str| serde_json::from_str::<Body>(text);
        assert_eq!(read("{}").unwrap().cleared, None);
        assert_eq!(read(r#"{"cleared": null}"#).unwrap().cleared, Some(None));
        assert_eq!(read(r#"{"cleared": 3, "kept": 4}"#).unwrap().kept, Some(4));
        assert!(read(r#"{"kept": null}"#).is_err());
    }
}
