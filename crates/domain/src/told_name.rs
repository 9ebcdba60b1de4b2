//! Text that strangers wrote, before others read it: in a mail, or on a page that leads a
//! stranger to a ticket.

/// One line without anything invisible: controls and line breaks, which could begin a
/// header or a line of their own, and the marks that turn the direction of the text
/// around them. At most so many characters.
pub fn line(text: &str, max_chars: usize) -> String {
    let visible = text.chars().map(|c| match c {
        // These keep what belongs together on one line.
        '\u{a0}' | '\u{202f}' => c,
        c if c.is_whitespace() => ' ',
        c => c,
    });
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

/// The name of a person as strangers may read it: a [`line`] without the words that a mail
/// reader would turn into a link, and without addresses. `None`: nothing of it is left.
pub fn told_name(name: &str, max_chars: usize) -> Option<String> {
    let line = line(name, usize::MAX);
    let words: Vec<_> = line.split(' ').filter(|word| !leads_away(word)).collect();
    let told = self::line(&words.join(" "), max_chars);
    told.chars().any(char::is_alphanumeric).then_some(told)
}

/// Whether this is an address of a site or of a mailbox, or looks like one: a letter or a
/// digit, a dot, and two letters, as in `example.org` and not in `J.R.` or `St.`.
fn leads_away(word: &str) -> bool {
    let is_scheme = word.contains("//") || word.contains(":/") || word.contains('@');
    let parts: Vec<_> = word.split(['.', '。', '．']).collect();
    let is_host = |pair: &[&str]| {
        let top: String = pair[1].chars().take_while(|c| c.is_alphabetic()).collect();
        pair[0].ends_with(char::is_alphanumeric) && top.chars().count() >= 2
    };
    is_scheme || parts.windows(2).any(is_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_is_left_and_long_lines_end_in_an_ellipsis() {
        let wild = "Night\r\nBcc: x@y.z\u{202e}\u{0} \t Flight\u{2028}!";
        assert_eq!(line(wild, 100), "Night Bcc: x@y.z Flight !");
        assert_eq!(line("Zażółć 東京 🎟", 100), "Zażółć 東京 🎟");
        assert_eq!(
            line("Vos billets\u{a0}: deux", 100),
            "Vos billets\u{a0}: deux"
        );
        assert_eq!(line("aaaaaaaa", 4), "aaa…");
        assert_eq!(line(&"ü".repeat(1_000), 10).chars().count(), 10);
    }

    #[test]
    fn a_name_that_strangers_read_has_no_link_and_no_address_in_it() {
        let told = |name: &str| told_name(name, 40);
        for (name, said) in [
            ("Ana Schäfer", "Ana Schäfer"),
            ("J.R. Ewing, St. John Jr.", "J.R. Ewing, St. John Jr."),
            ("Ana https://evil.example/x", "Ana"),
            ("www.evil.example Ana", "Ana"),
            ("Ana evil.example/win?a=b", "Ana"),
            ("Ana (evil.co)", "Ana"),
            ("Ana ana@example.org", "Ana"),
            ("Ana mailto:/x", "Ana"),
            ("Ana\u{202e}\r\nBcc: x", "Ana Bcc: x"),
        ] {
            assert_eq!(told(name).as_deref(), Some(said), "{name}");
        }
        // A mark that nobody sees does not hide a link.
        assert_eq!(told("evil\u{200b}.example"), None);
        assert_eq!(told("https://evil.example"), None);
        assert_eq!(told("…"), None);
        assert_eq!(
            told(&"ü".repeat(100)).map(|it| it.chars().count()),
            Some(40)
        );
    }
}
