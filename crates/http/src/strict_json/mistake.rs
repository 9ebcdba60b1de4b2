//! What is wrong with a document, where, and in the words of JSON.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// Quoted input is cut to this many characters.
const QUOTED_CHARS: usize = 60;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// From the inside out: the last step is the outermost one.
    steps: Vec<String>,
    reason: String,
}

impl Mistake {
    pub(super) fn new(reason: String) -> Self {
        Self {
            steps: Vec::new(),
            reason,
        }
    }

    pub(super) fn within(mut self, step: impl Into<String>) -> Self {
        self.steps.push(step.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<&str> = self.steps.iter().rev().map(String::as_str).collect();
        match path.as_slice() {
            [] => write!(f, "The body {}", self.reason),
            steps => write!(f, "`{}` {}", steps.join("."), self.reason),
        }
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        if message.contains("untagged enum") {
            return Self::new("has none of the forms that are allowed here".to_owned());
        }
        Self::new(format!("is not valid: {message}"))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        mismatch(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        mismatch(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!(
            "has {length} items and must be {}",
            in_json(expected)
        ))
    }

    fn unknown_variant(found: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(format!(
            "must be one of {}, not {}",
            allowed.join(", "),
            quoted(found)
        ))
    }

    fn unknown_field(found: &str, allowed: &'static [&'static str]) -> Self {
        let allowed = allowed.join(", ");
        Self::new(format!(
            "has the unknown field {}; it takes {allowed}",
            quoted(found)
        ))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("lacks the field `{field}`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("has the field `{field}` twice"))
    }
}

/// The ends of a wide type are no rule of ours, so they are not told.
fn mismatch(found: Unexpected<'_>, expected: &dyn Expected) -> Mistake {
    let wanted = match (expected.to_string().as_str(), found) {
        ("u32" | "u64" | "usize", Unexpected::Unsigned(_)) => "a smaller whole number".to_owned(),
        ("u32" | "u64" | "usize", _) => "a whole number, 0 or more".to_owned(),
        ("i32" | "i64" | "isize", _) => "a whole number".to_owned(),
        _ => in_json(expected),
    };
    Mistake::new(format!("must be {wanted}, not {}", kind(found)))
}

/// What a type expects, in the words of JSON.
fn in_json(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    let integer = |bits: u32, signed: bool| -> String {
        let magnitude_bits = bits - u32::from(signed);
        let max = (1i32 << magnitude_bits) - 1;
        let min = if signed { -max - 1 } else { 0 };
        format!("a whole number from {min} to {max}")
    };
    match text.as_str() {
        "u8" => integer(8, false),
        "u16" => integer(16, false),
        "i8" => integer(8, true),
        "i16" => integer(16, true),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "an object".to_owned(),
        "a boolean" => "true or false".to_owned(),
        _ if text.starts_with("struct ") => "an object".to_owned(),
        _ if text.starts_with("enum ") || text.starts_with("variant ") => {
            "one of the values that are allowed here".to_owned()
        }
        _ if text.starts_with("tuple ") || text.starts_with("an array of length") => {
            "an array of the right length".to_owned()
        }
        _ => text,
    }
}

fn kind(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Str(text) => quoted(text),
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        _ => "an object".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(QUOTED_CHARS).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{dots}")
}

/// A key may be anything; a path shows the beginning of it and nothing invisible.
pub(super) fn step(name: &str) -> String {
    let plain = name.chars().take(QUOTED_CHARS);
    plain
        .map(|c| {
            if c.is_control() || c == '`' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
