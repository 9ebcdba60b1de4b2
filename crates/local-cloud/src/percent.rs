//! Percent-encoding, for links and for the names of files.

/// Writes everything but letters, digits, `-`, `_`, `.`, `~` and the characters of `also` as
/// `%` and two digits.
pub(crate) fn percent_encoded(text: &str, also: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || also.contains(&byte);
        push(&mut encoded, byte, plain);
    }
    encoded
}

pub(crate) fn push(encoded: &mut String, byte: u8, plain: bool) {
    match plain {
        true => encoded.push(byte as char),
        false => encoded.push_str(&format!("%{byte:02X}")),
    }
}

/// `None`: the text was not encoded like this, or is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = bytes.get(at + 1..at + 3)?;
            let digits = std::str::from_utf8(digits).ok()?;
            decoded.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_reads_back_and_broken_text_does_not() {
        for text in ["a/b.json", "ü%2F", "a b+c&d=e", "\"\n"] {
            let encoded = percent_encoded(text, b"/");
            assert_eq!(percent_decoded(&encoded).as_deref(), Some(text));
        }
        assert_eq!(percent_encoded("a b/ü", b"/"), "a%20b/%C3%BC");
        assert_eq!(percent_decoded("%4"), None);
        assert_eq!(percent_decoded("%zz"), None);
    }
}
