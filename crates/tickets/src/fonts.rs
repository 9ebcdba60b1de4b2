//! Text as glyphs: which font shows a letter, and where its glyphs stand on the line.
//!
//! Every letter is shown by the first font that has all of its characters. A letter that
//! no font has is shown as U+FFFD, never as an empty box of the font (`.notdef`), which
//! PDF/UA forbids. What runs from right to left is put in its place by UAX #9.

use harfrust::Script;
use krilla::text::{Font, KrillaGlyph};
use std::ops::Range;
use std::sync::OnceLock;
use unicode_bidi::{Direction, Level, ParagraphBidiInfo, get_base_direction};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::faces::{BOLD, Face, OTHER_SCRIPTS, REGULAR, script_of};

const REPLACEMENT: &str = "\u{fffd}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// Which way a text runs as a whole: as its first letter that has a direction.
pub(crate) fn base_level(text: &str) -> Level {
    match get_base_direction(text) {
        Direction::Rtl => Level::rtl(),
        Direction::Ltr | Direction::Mixed => Level::ltr(),
    }
}

/// Glyphs of one font that stand side by side.
pub(crate) struct Run {
    pub(crate) font: Font,
    /// From left to right.
    pub(crate) glyphs: Vec<KrillaGlyph>,
    /// What the glyphs show, in the order in which it is read.
    pub(crate) text: String,
    /// From the left end of the line, in ems.
    pub(crate) left: f32,
    /// In ems.
    pub(crate) width: f32,
    pub(crate) level: Level,
    /// The font has no bold, so the glyphs want a thin outline where bold is asked for.
    pub(crate) embolden: bool,
}

impl Run {
    fn width_of_spaces_at_the_left(&self) -> f32 {
        let spaces = self.glyphs.iter();
        let spaces = spaces.take_while(|glyph| &self.text[glyph.text_range.clone()] == " ");
        spaces.map(|glyph| glyph.x_advance).sum()
    }
}

/// Letters that follow each other and become one [`Run`].
struct Span<'a> {
    face: &'a Face,
    script: Option<Script>,
    level: Level,
    range: Range<usize>,
}

impl Span<'_> {
    /// Takes the letters in if they are of the same kind.
    fn join(&mut self, next: &Self) -> bool {
        let same_script =
            self.script == next.script || self.script.is_none() || next.script.is_none();
        let same = std::ptr::eq(self.face, next.face) && self.level == next.level && same_script;
        if same {
            self.script = self.script.or(next.script);
            self.range.end = next.range.end;
        }
        same
    }
}

pub(crate) struct Fonts {
    regular: Face,
    bold: Face,
    other_scripts: Vec<Face>,
}

impl Fonts {
    /// The fonts, parsed once. `None` only if the files in the program are damaged.
    pub(crate) fn get() -> Option<&'static Self> {
        static FONTS: OnceLock<Option<Fonts>> = OnceLock::new();
        FONTS
            .get_or_init(|| {
                let others: Option<Vec<Face>> =
                    OTHER_SCRIPTS.into_iter().map(Face::parse).collect();
                Some(Fonts {
                    regular: Face::parse(REGULAR)?,
                    bold: Face::parse(BOLD)?,
                    other_scripts: others?,
                })
            })
            .as_ref()
    }

    fn european(&self, weight: Weight) -> &Face {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    fn face_of(&self, letter: &str, weight: Weight) -> Option<&Face> {
        std::iter::once(self.european(weight))
            .chain(&self.other_scripts)
            .find(|face| face.has(letter))
    }

    /// The text with U+FFFD in place of every letter that no font has, and the font of each
    /// letter with where it ends.
    fn letters(&self, text: &str, weight: Weight) -> (String, Vec<(&Face, usize)>) {
        let mut shown = String::new();
        let mut letters: Vec<(&Face, usize)> = Vec::new();
        for letter in text.graphemes(true) {
            // A space is as wide as the words before it want.
            let last = letters.last().map(|(face, _)| *face);
            let same = last.filter(|face| letter == " " && face.has(letter));
            let found = same.or_else(|| self.face_of(letter, weight));
            let found = found.map(|face| (face, letter));
            let (face, letter) = found.unwrap_or((self.european(weight), REPLACEMENT));
            shown.push_str(letter);
            letters.push((face, shown.len()));
        }
        (shown, letters)
    }

    /// A line as glyphs, run by run in the order in which it is read, in a text that runs
    /// as `base` says. The text of the runs together is the line, with U+FFFD in place of
    /// every letter that no font has.
    pub(crate) fn shape(&self, line: &str, weight: Weight, base: Level) -> Vec<Run> {
        let (shown, letters) = self.letters(line, weight);
        let levels = ParagraphBidiInfo::new(&shown, Some(base)).reordered_levels(0..shown.len());
        let mut spans: Vec<Span<'_>> = Vec::new();
        let mut start = 0;
        for (face, end) in letters {
            let letter = Span {
                face,
                script: script_of(&shown[start..end]),
                level: levels[start],
                range: start..end,
            };
            start = end;
            if !spans.last_mut().is_some_and(|last| last.join(&letter)) {
                spans.push(letter);
            }
        }
        let run = |span: Span<'_>| {
            let text = &shown[span.range];
            let glyphs = span.face.shape(text, span.script, span.level);
            Run {
                font: span.face.font.clone(),
                left: 0.0,
                width: glyphs.iter().map(|glyph| glyph.x_advance).sum(),
                text: text.to_owned(),
                level: span.level,
                embolden: weight == Weight::Bold && !std::ptr::eq(span.face, &self.bold),
                glyphs,
            }
        };
        let mut runs: Vec<Run> = spans.into_iter().map(run).collect();
        place(&mut runs, base);
        runs
    }

    /// The width of a line in ems.
    pub(crate) fn width(&self, line: &str, weight: Weight, base: Level) -> f32 {
        let runs = self.shape(line, weight, base);
        runs.iter().map(|run| run.width).sum()
    }
}

/// Puts the runs side by side as they are seen. The spaces at the end of a line that runs
/// from right to left stand to the left of where it starts, so that they indent nothing.
fn place(runs: &mut [Run], base: Level) {
    let levels: Vec<Level> = runs.iter().map(|run| run.level).collect();
    let last = runs.last().filter(|_| base.is_rtl());
    let mut left = last.map_or(0.0, |run| -run.width_of_spaces_at_the_left());
    for index in ParagraphBidiInfo::reorder_visual(&levels) {
        runs[index].left = left;
        left += runs[index].width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, weight: Weight) -> Vec<Run> {
        Fonts::get().unwrap().shape(text, weight, base_level(text))
    }

    fn shown(text: &str) -> String {
        let runs = shape(text, Weight::Bold);
        runs.iter().map(|run| run.text.as_str()).collect()
    }

    /// The glyphs of a line from left to right, each with what it shows.
    fn seen(text: &str) -> Vec<(u32, String)> {
        let mut runs = shape(text, Weight::Regular);
        runs.sort_by(|a, b| a.left.total_cmp(&b.left));
        let glyphs = |run: &Run| -> Vec<_> {
            let glyphs = run.glyphs.iter();
            glyphs
                .map(|g| {
                    (
                        g.glyph_id.to_u32(),
                        run.text[g.text_range.clone()].to_owned(),
                    )
                })
                .collect()
        };
        runs.iter().flat_map(glyphs).collect()
    }

    fn seen_text(text: &str) -> String {
        seen(text).into_iter().map(|(_, text)| text).collect()
    }

    const NAMES: [&str; 26] = [
        "Ça va, Škoda? Łódź, İstanbul, Þór, Nguyễn Thị Hằng — 45,00 €",
        "Щедрик, Київ, Ђорђе, Қазақстан, № 7",
        "Ελλάδα, Ἀθῆναι",
        "上海音乐厅 台灣 張偉 喆",
        "東京ドーム、カラヤン・ひろば「々」",
        "서울 올림픽공원",
        "Cafe\u{301} Nguye\u{302}\u{303}n",
        "שָׁלוֹם, היכל התרבות (תל אביב)",
        "محمد، أُمّ كُلثوم، علی\u{200c}رضا، ٹیپو ۱۲۳ ٤٥٦",
        "ﻣﺤﻤﺪ",
        "Մարտիրոս Սարյան, և Երևան",
        "রবীন্দ্রনাথ ঠাকুর, শ্রীমন্ত",
        "राजेन्द्र क्षीरसागर, श्री, क्\u{200d}ष, हिन्दी १२३।",
        "አበበ ቢቂላ፣ አዲስ አበባ",
        "ნინო ანანიაშვილი, ᲗᲑᲘᲚᲘᲡᲘ",
        "નરસિંહ મહેતા, ક્ષત્રિય",
        "ਗੁਰੂ ਨਾਨਕ, ਸ੍ਰੀ",
        "ಕುವೆಂಪು, ಶ್ರೀಕೃಷ್ಣ",
        "ស៊ីន ស៊ីសាមុត, ភ្នំពេញ",
        "ວຽງຈັນ, ນ້ຳ",
        "യേശുദാസ്, ക്ഷേത്രം, ൻ",
        "အောင်ဆန်းစုကြည်၊ မြန်မာ",
        "ශ්\u{200d}රී ලංකා",
        "கண்ணதாசன், ஸ்ரீ, கொ",
        "శ్రీకృష్ణ, త్యాగరాజు",
        "สมศักดิ์ น้ำผึ้ง ชั้น ๑",
    ];

    #[test]
    fn the_languages_of_the_ticket_have_glyphs() {
        for text in NAMES {
            assert_eq!(shown(text), text);
            for weight in [Weight::Regular, Weight::Bold] {
                for run in shape(text, weight) {
                    let missing = run.glyphs.iter().any(|g| g.glyph_id.to_u32() == 0);
                    assert!(!missing, "{}", run.text);
                    assert_eq!(run.embolden, weight == Weight::Bold && !is_bold(&run));
                }
            }
        }
    }

    fn is_bold(run: &Run) -> bool {
        run.font == Fonts::get().unwrap().bold.font
    }

    #[test]
    fn a_letter_without_a_font_is_replaced_as_a_whole() {
        assert_eq!(shown("a👩‍👩‍👧b"), "a\u{fffd}b");
        assert_eq!(shown("བོད་"), REPLACEMENT.repeat(3), "Tibetan");
        assert_eq!(shown("ܫܠܡܐ"), REPLACEMENT.repeat(4), "Syriac");
    }

    #[test]
    fn mixed_text_becomes_runs_in_order() {
        let runs = shape("BTS 방탄 live", Weight::Bold);
        let texts: Vec<_> = runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(texts, ["BTS ", "방탄", " live"]);
        assert!(runs[1].embolden && !runs[0].embolden);
    }

    #[test]
    fn scripts_of_one_font_are_shaped_apart() {
        let runs = shape("Zoë, Ζωή 7", Weight::Regular);
        let texts: Vec<_> = runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(texts, ["Zoë, ", "Ζωή 7"]);
    }

    #[test]
    fn hebrew_is_drawn_from_right_to_left() {
        assert_eq!(seen_text("שלום"), "םולש");
        assert_eq!(seen_text("תל אביב"), "ביבא לת");
    }

    #[test]
    fn numbers_and_latin_keep_their_order_among_hebrew() {
        assert_eq!(seen_text("שלום 12 ABC"), "ABC 12 םולש");
        assert_eq!(seen_text("Row 7, שלום 12"), "Row 7, 12 םולש");
        assert_eq!(seen_text("ABC שלום עולם DEF"), "ABC םלוע םולש DEF");
        assert_eq!(seen_text("+972-3-123"), "+972-3-123");
    }

    #[test]
    fn runs_stand_side_by_side_without_gaps() {
        for text in NAMES {
            let mut runs = shape(text, Weight::Regular);
            runs.sort_by(|a, b| a.left.total_cmp(&b.left));
            let mut left = 0.0;
            for run in runs {
                assert!((run.left - left).abs() < 0.001, "{text}");
                left += run.width;
            }
        }
    }

    #[test]
    fn the_space_after_a_line_from_right_to_left_indents_nothing() {
        for text in ["שלום", "שלום ", "שלום ABC ", "שלום 12: ", "محمد علي "]
        {
            let runs = shape(text, Weight::Regular);
            let leftmost = runs
                .iter()
                .min_by(|a, b| a.left.total_cmp(&b.left))
                .unwrap();
            let ink = leftmost.left + leftmost.width_of_spaces_at_the_left();
            assert!(ink.abs() < 0.001, "{text}: {ink}");
        }
    }

    #[test]
    fn brackets_are_mirrored_where_text_runs_from_right_to_left() {
        let (opening, closing) = (seen("(")[0].0, seen(")")[0].0);
        let hebrew = seen("(שלום)");
        assert_eq!((hebrew[0].0, hebrew[5].0), (opening, closing));
        assert_eq!((hebrew[0].1.as_str(), hebrew[5].1.as_str()), (")", "("));
    }

    #[test]
    fn arabic_letters_join() {
        let alone = seen("ح")[0].0;
        let joined = seen("محمد");
        assert_eq!(seen_text("محمد"), "دمحم");
        assert_ne!(joined[2].0, alone);
        assert_ne!(joined[1].0, joined[3].0, "in the middle and at the start");
        let apart = seen("ح\u{200c}ح");
        assert_eq!((apart[0].0, apart[2].0), (alone, alone), "kept apart");
    }

    #[test]
    fn letters_of_india_form_conjuncts_and_vowels_move() {
        let conjunct = seen("क्ष");
        assert_eq!(conjunct.len(), 1, "{conjunct:?}");
        let (short_i, ka) = (seen("हि"), seen("क"));
        assert_ne!(
            short_i[0].0,
            seen("ह")[0].0,
            "the vowel stands before its letter"
        );
        assert_eq!(ka.len(), 1);
    }

    #[test]
    fn marks_stay_with_their_letter() {
        for (text, letters) in [
            ("שָׁלוֹם", vec!["ם", "וֹ", "ל", "שָׁ"]),
            ("مُحَمَّد", vec!["د", "مَّ", "حَ", "مُ"]),
            ("น้ำ", vec!["น้ำ"]),
        ] {
            let mut shows: Vec<String> = seen(text).into_iter().map(|(_, text)| text).collect();
            assert!(
                shows.len() > letters.len(),
                "the marks have glyphs: {shows:?}"
            );
            shows.dedup();
            assert_eq!(shows, letters);
        }
    }
}
