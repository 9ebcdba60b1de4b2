//! Text that strangers wrote, before it goes anywhere in a mail.

/// Longer names are cut: a mail is no place for a novel, and a subject less so.
pub(crate) const MAX_CHARS: usize = 200;

/// One line without anything invisible: controls and line breaks, which could begin a
/// header or a line of their own, and the marks that turn the direction of the text
/// around them. At most so many characters.
pub(crate) fn line(text: &str, max_chars: usize) -> String {
    let visible = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    let visible: String = visible.filter(|c| !is_invisible(*c)).collect();
    let words: Vec<_> = visible.split(' ').filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.chars().count() <= max_chars {
        true => line,
        false => {
            let cut: String = line.chars().take(max_chars.saturating_sub(1)).collect();
            format!("{}…", cut.trim_end())
        }
    }
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}' | '\u{200b}'
                | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_is_left_and_long_lines_end_in_an_ellipsis() {
        let wild = "Night\r\nBcc: x@y.z\u{202e}\u{0} \t Flight\u{2028}!";
        assert_eq!(line(wild, 100), "Night Bcc: x@y.z Flight !");
        assert_eq!(line("Zażółć 東京 🎟", 100), "Zażółć 東京 🎟");
        assert_eq!(line("aaaaaaaa", 4), "aaa…");
        assert_eq!(line(&"ü".repeat(1_000), 10).chars().count(), 10);
    }
}
