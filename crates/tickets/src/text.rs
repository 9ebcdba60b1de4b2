//! Text from strangers, made fit to print.
//!
//! Organisers and buyers write what they like. What comes out of here is one line, not
//! longer than [`MAX_CHARS`], without characters that hide, reorder or control others.

use unicode_segmentation::UnicodeSegmentation as _;

/// More characters than this are cut off before anything looks at them.
pub const MAX_CHARS: usize = 300;

/// A letter with more marks than this is decoration that would run into other lines.
const MAX_CHARS_OF_ONE_LETTER: usize = 4;

/// The text on one line: controls become spaces, invisible characters go, spaces that
/// follow each other become one, and towers of marks are capped.
pub(crate) fn clean(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars().take(MAX_CHARS).filter(|c| !is_invisible(*c)) {
        if c.is_control() || c.is_whitespace() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        } else {
            line.push(c);
        }
    }
    line.trim()
        .graphemes(true)
        .flat_map(|letter| letter.chars().take(MAX_CHARS_OF_ONE_LETTER))
        .collect()
}

/// Characters without a shape of their own: joiners, direction marks, tags, variation
/// selectors and fillers; and those that have no meaning outside one program.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{ffa0}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{e0000}'..='\u{10ffff}')
        || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_become_one_space_and_invisible_characters_go() {
        assert_eq!(clean("  Jazz\r\n\tin \u{a0} June\0 "), "Jazz in June");
        assert_eq!(clean("pay\u{202e}lap\u{200b}"), "paylap");
        assert_eq!(clean("\u{feff}\u{fffe}\u{e000}\u{f0000}"), "");
        assert_eq!(clean("Ж Ω 中 한 é"), "Ж Ω 中 한 é");
    }

    #[test]
    fn towers_of_marks_are_capped() {
        let tower = format!("z{}o", "\u{301}".repeat(200));
        assert_eq!(clean(&tower), "z\u{301}\u{301}\u{301}o");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_bounded_line(text in any::<String>()) {
            let line = clean(&text);
            prop_assert!(line.chars().count() <= MAX_CHARS);
            prop_assert!(line.chars().all(|c| !c.is_control() && !is_invisible(c)));
            prop_assert!(!line.contains("  "));
            prop_assert_eq!(clean(&line), line);
        }
    }
}
