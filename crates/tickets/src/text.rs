//! Text from strangers, made fit to print.
//!
//! Organisers and buyers write what they like. What comes out of here is one line, not
//! longer than [`MAX_CHARS`], without characters that hide, reorder or control others: which
//! way the text runs follows from its letters alone.

use unicode_segmentation::UnicodeSegmentation as _;

/// More characters than this are cut off before anything looks at them.
pub const MAX_CHARS: usize = 300;

/// A letter with more marks than this is decoration that would run into other lines.
const MAX_CHARS_OF_ONE_LETTER: usize = 4;

/// The text on one line: controls become spaces, invisible characters go, spaces that
/// follow each other become one, and towers of marks are capped.
pub(crate) fn clean(text: &str) -> String {
    let visible: String = text
        .chars()
        .take(MAX_CHARS)
        .filter(|c| !is_invisible(*c) || is_joiner(*c))
        .map(|c| {
            if c.is_control() || c.is_whitespace() {
                ' '
            } else {
                c
            }
        })
        .collect();
    // Letters as they were before Unicode 15.1: a conjunct of South Asia is several.
    let capped: String = visible
        .graphemes(false)
        .flat_map(|letter| letter.chars().take(MAX_CHARS_OF_ONE_LETTER))
        .collect();
    let mut line = String::new();
    for c in without_idle_joiners(&capped).chars() {
        if c != ' ' || !line.ends_with(' ') {
            line.push(c);
        }
    }
    line.trim().to_owned()
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// The scripts that spell with joiners: Arabic, and those from Devanagari to Sinhala.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{900}'..='\u{dff}')
}

/// Keeps a joiner only between letters whose form depends on it.
fn without_idle_joiners(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let between = || kept.chars().last().is_some_and(is_joined);
        if !is_joiner(c) || (rest.peek().copied().is_some_and(is_joined) && between()) {
            kept.push(c);
        }
    }
    kept
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
    fn no_character_turns_the_text_around() {
        let turning = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        for c in turning.chain(['\u{200e}', '\u{200f}', '\u{61c}']) {
            assert_eq!(clean(&format!("ab{c}cd")), "abcd");
        }
    }

    #[test]
    fn joiners_stay_where_letters_depend_on_them() {
        assert_eq!(clean("علی\u{200c}رضا"), "علی\u{200c}رضا");
        assert_eq!(clean("ක්\u{200d}රි"), "ක්\u{200d}රි");
        assert_eq!(clean("a\u{200d}b\u{200c} 👩\u{200d}👧"), "ab 👩👧");
        assert_eq!(clean("علی\u{200c}\u{200c} \u{200d}ab\u{200c}ی"), "علی abی");
        assert_eq!(clean("a \u{200c} b"), "a b");
    }

    #[test]
    fn a_conjunct_of_many_letters_is_no_tower() {
        for name in ["राजेन्द्री", "कार्त्स्न्य", "শ্রীমন্ত্রী"]
        {
            assert_eq!(clean(name), name);
        }
    }

    #[test]
    fn towers_of_marks_are_capped() {
        let tower = format!("z{}o", "\u{301}".repeat(200));
        assert_eq!(clean(&tower), "z\u{301}\u{301}\u{301}o");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_bounded_line(text in prop_oneof![
            any::<String>(),
            "[ \u{200c}\u{200d}\u{202e}a\u{301}\u{64e}بکक््ा]{0,60}",
        ]) {
            let line = clean(&text);
            prop_assert!(line.chars().count() <= MAX_CHARS);
            prop_assert!(line.chars().all(|c| !c.is_control() && (!is_invisible(c) || is_joiner(c))));
            prop_assert!(!line.contains("  "));
            prop_assert_eq!(clean(&line), line);
        }
    }
}
