//! The id of a request, from the edge to the last step that it caused.

/// An id is written into every log line.
pub const MAX_LEN: usize = 64;

/// Whether an id from outside can be taken over as it is.
pub fn is_fit(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=MAX_LEN).contains(&id.len()) && id.bytes().all(plain)
}

/// A new id.
pub fn from_random(random: u64) -> String {
    format!("{random:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_plain() {
        for fit in ["a", "abc-1.2_3", &"a".repeat(MAX_LEN), &from_random(7)] {
            assert!(is_fit(fit), "{fit}");
        }
        for odd in [
            "",
            "a b",
            "a;b",
            "<script>",
            "ä",
            "a\n",
            &"a".repeat(MAX_LEN + 1),
        ] {
            assert!(!is_fit(odd), "{odd:?}");
        }
    }
}
