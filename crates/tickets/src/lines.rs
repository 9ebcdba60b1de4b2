//! Text in a box: where its lines break, and what gives way when it is too long.

use unicode_bidi::Level;
use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::fonts::{Fonts, Weight, base_level};

/// How large a text may be set and over how many lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    pub(crate) size: f32,
    pub(crate) lines: usize,
}

impl Fit {
    pub(crate) const fn new(size: f32, lines: usize) -> Self {
        Self { size, lines }
    }
}

/// Text set in lines of one size. No line is wider than its box.
#[derive(Debug, PartialEq)]
pub(crate) struct Lines {
    pub(crate) size: f32,
    /// Which way the text runs as a whole, and so each of its lines.
    pub(crate) base: Level,
    pub(crate) lines: Vec<String>,
}

impl Lines {
    /// The text in the first way that shows all of it; in the last way, cut short with an
    /// ellipsis, if none does.
    pub(crate) fn set(fonts: &Fonts, text: &str, weight: Weight, width: f32, ways: &[Fit]) -> Self {
        let base = base_level(text);
        let mut cut = None;
        for fit in ways {
            let setting = Setting {
                fonts,
                weight,
                base,
                width_ems: width / fit.size,
            };
            let (lines, complete) = setting.lines(text, fit.lines);
            let set = Self {
                size: fit.size,
                base,
                lines,
            };
            if complete {
                return set;
            }
            cut = Some(set);
        }
        cut.unwrap_or(Self {
            size: 1.0,
            base,
            lines: Vec::new(),
        })
    }
}

struct Setting<'a> {
    fonts: &'a Fonts,
    weight: Weight,
    base: Level,
    width_ems: f32,
}

impl Setting<'_> {
    fn fits(&self, text: &str) -> bool {
        let line = text.trim_end();
        self.fonts.width(line, self.weight, self.base) <= self.width_ems
    }

    fn lines(&self, text: &str, most: usize) -> (Vec<String>, bool) {
        let mut lines = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if self.fits(rest) {
                lines.push(rest.to_owned());
                return (lines, true);
            }
            if lines.len() + 1 >= most {
                lines.push(self.shortened(rest));
                return (lines, false);
            }
            let end = self.end_of_line(rest);
            // The space at the break stays: it separates the words for a screen reader.
            lines.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
        }
        (lines, true)
    }

    /// Where the first line of a text ends that does not fit on one: after the last word
    /// that fits, or inside the first word if it alone is too long.
    fn end_of_line(&self, text: &str) -> usize {
        let words = linebreaks(text).map(|(end, _)| end);
        let fitting = |ends: &mut dyn Iterator<Item = usize>| {
            ends.take_while(|end| self.fits(&text[..*end])).last()
        };
        fitting(&mut words.into_iter())
            .or_else(|| fitting(&mut letter_ends(text)))
            .or_else(|| letter_ends(text).next())
            .unwrap_or(text.len())
    }

    fn shortened(&self, text: &str) -> String {
        let with_ellipsis = |end: usize| format!("{}…", text[..end].trim_end());
        let ends = letter_ends(text).take_while(|end| self.fits(&with_ellipsis(*end)));
        with_ellipsis(ends.last().unwrap_or(0))
    }
}

fn letter_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.grapheme_indices(true)
        .map(|(start, letter)| start + letter.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::clean;
    use proptest::prelude::*;

    fn set(text: &str, width: f32, ways: &[Fit]) -> Lines {
        Lines::set(Fonts::get().unwrap(), text, Weight::Regular, width, ways)
    }

    const TWO_LINES: &[Fit] = &[Fit::new(10.0, 2)];

    #[test]
    fn lines_break_between_words() {
        let lines = set("An evening of songs", 60.0, TWO_LINES).lines;
        assert_eq!(lines, ["An evening ", "of songs"]);
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_a_full_stop() {
        let lines = set("上海音乐厅音乐会。", 80.0, TWO_LINES).lines;
        assert_eq!(lines, ["上海音乐厅音乐", "会。"]);
    }

    #[test]
    fn a_word_wider_than_the_box_is_broken() {
        let lines = set("Donaudampfschifffahrt", 60.0, TWO_LINES).lines;
        assert_eq!(lines.concat(), "Donaudampfschifffahrt");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        let lines = set("one two three four five six seven", 60.0, TWO_LINES).lines;
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'), "{lines:?}");
    }

    #[test]
    fn lines_break_in_the_order_in_which_they_are_read() {
        let set = set("שלום עולם ABC DEF", 60.0, TWO_LINES);
        assert_eq!(set.lines, ["שלום עולם ", "ABC DEF"]);
        assert!(set.base.is_rtl(), "also where a line has Latin only");
    }

    #[test]
    fn a_smaller_size_is_tried_before_anything_is_cut() {
        let ways = [Fit::new(20.0, 1), Fit::new(10.0, 1)];
        assert_eq!(set("Short", 60.0, &ways).size, 20.0);
        assert_eq!(set("Not as short", 80.0, &ways).size, 10.0);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_its_box(text in any::<String>(), width in 40f32..300.0) {
            let ways = [Fit::new(12.0, 2), Fit::new(9.0, 3)];
            let set = set(&clean(&text), width, &ways);
            prop_assert!(set.lines.len() <= 3);
            for line in &set.lines {
                let ems = Fonts::get().unwrap().width(line.trim_end(), Weight::Regular, set.base);
                prop_assert!(ems * set.size <= width + 0.01, "{line:?}");
            }
        }
    }
}
