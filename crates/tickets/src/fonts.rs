//! The fonts in the program: which of them shows a letter, and its glyphs.
//!
//! Every letter is shown by the first font that has all of its characters. A letter that
//! no font has is shown as U+FFFD, never as an empty box of the font (`.notdef`), which
//! PDF/UA forbids.

use harfrust::{Direction, ShapeOptions, ShaperData, UnicodeBuffer};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider as _};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use unicode_segmentation::UnicodeSegmentation as _;

static REGULAR: &[u8] = include_bytes!("../fonts/NotoSans-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/NotoSans-Bold.ttf");
static EAST_ASIAN: &[u8] = include_bytes!("../fonts/NotoSansCJKsc-Regular-subset.otf");

const REPLACEMENT: &str = "\u{fffd}";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

struct Face {
    font: Font,
    parsed: FontRef<'static>,
    charmap: Charmap<'static>,
    shaper: ShaperData,
    units_per_em: f32,
}

impl Face {
    fn parse(data: &'static [u8]) -> Option<Self> {
        let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(data);
        let font = Font::new(shared.into(), 0)?;
        let parsed = FontRef::new(data).ok()?;
        Some(Self {
            units_per_em: font.units_per_em(),
            charmap: parsed.charmap(),
            shaper: ShaperData::new(&parsed),
            parsed,
            font,
        })
    }

    fn has(&self, letter: &str) -> bool {
        letter.chars().all(|c| self.charmap.map(c).is_some())
    }

    fn shape(&self, text: &str) -> Vec<KrillaGlyph> {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        // No font here has a script that runs from right to left.
        buffer.set_direction(Direction::LeftToRight);
        let shaped = self
            .shaper
            .shaper(&self.parsed)
            .build()
            .shape(buffer, ShapeOptions::new());
        let starts: Vec<usize> = shaped
            .glyph_infos()
            .iter()
            .map(|info| info.cluster as usize)
            .collect();
        let placed = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        placed
            .zip(&starts)
            .map(|((info, position), start)| {
                let end = starts.iter().copied().filter(|s| s > start).min();
                KrillaGlyph::new(
                    GlyphId::new(info.glyph_id),
                    position.x_advance as f32 / self.units_per_em,
                    position.x_offset as f32 / self.units_per_em,
                    position.y_offset as f32 / self.units_per_em,
                    position.y_advance as f32 / self.units_per_em,
                    *start..end.unwrap_or(text.len()),
                    None,
                )
            })
            .collect()
    }
}

/// Glyphs of one font that stand side by side.
pub(crate) struct Run {
    pub(crate) font: Font,
    pub(crate) glyphs: Vec<KrillaGlyph>,
    /// What the glyphs show.
    pub(crate) text: String,
    /// In ems.
    pub(crate) width: f32,
    /// The font has no bold, so the glyphs want a thin outline where bold is asked for.
    pub(crate) embolden: bool,
}

pub(crate) struct Fonts {
    regular: Face,
    bold: Face,
    east_asian: Face,
}

impl Fonts {
    /// The fonts, parsed once. `None` only if the files in the program are damaged.
    pub(crate) fn get() -> Option<&'static Self> {
        static FONTS: OnceLock<Option<Fonts>> = OnceLock::new();
        FONTS
            .get_or_init(|| {
                Some(Fonts {
                    regular: Face::parse(REGULAR)?,
                    bold: Face::parse(BOLD)?,
                    east_asian: Face::parse(EAST_ASIAN)?,
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
        [self.european(weight), &self.east_asian]
            .into_iter()
            .find(|face| face.has(letter))
    }

    /// The text as glyphs, run by run. The text of the runs together is the text given,
    /// with U+FFFD in place of every letter that no font has.
    pub(crate) fn shape(&self, text: &str, weight: Weight) -> Vec<Run> {
        let mut shown = String::new();
        let mut spans: Vec<(&Face, Range<usize>)> = Vec::new();
        for letter in text.graphemes(true) {
            let found = self.face_of(letter, weight).map(|face| (face, letter));
            let (face, letter) = found.unwrap_or((self.european(weight), REPLACEMENT));
            let start = shown.len();
            shown.push_str(letter);
            match spans.last_mut() {
                Some((last, span)) if std::ptr::eq(*last, face) => span.end = shown.len(),
                _ => spans.push((face, start..shown.len())),
            }
        }
        let run = |(face, span): (&Face, Range<usize>)| {
            let glyphs = face.shape(&shown[span.clone()]);
            Run {
                font: face.font.clone(),
                width: glyphs.iter().map(|glyph| glyph.x_advance).sum(),
                text: shown[span].to_owned(),
                embolden: weight == Weight::Bold && std::ptr::eq(face, &self.east_asian),
                glyphs,
            }
        };
        spans.into_iter().map(run).collect()
    }

    /// The width of the text in ems.
    pub(crate) fn width(&self, text: &str, weight: Weight) -> f32 {
        let runs = self.shape(text, weight);
        runs.iter().map(|run| run.width).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let runs = Fonts::get().unwrap().shape(text, Weight::Bold);
        runs.iter().map(|run| run.text.as_str()).collect()
    }

    #[test]
    fn the_languages_of_the_ticket_have_glyphs() {
        for text in [
            "Ça va, Škoda? Łódź, İstanbul, Þór, Nguyễn Thị Hằng — 45,00 €",
            "Щедрик, Київ, Ђорђе, Қазақстан, № 7",
            "Ελλάδα, Ἀθῆναι",
            "上海音乐厅 台灣 張偉 喆",
            "東京ドーム、カラヤン・ひろば「々」",
            "서울 올림픽공원",
            "Cafe\u{301} Nguye\u{302}\u{303}n",
        ] {
            assert_eq!(shown(text), text);
            for weight in [Weight::Regular, Weight::Bold] {
                for run in Fonts::get().unwrap().shape(text, weight) {
                    let missing = run.glyphs.iter().any(|g| g.glyph_id.to_u32() == 0);
                    assert!(!missing, "{}", run.text);
                }
            }
        }
    }

    #[test]
    fn a_letter_without_a_font_is_replaced_as_a_whole() {
        assert_eq!(shown("a👩‍👩‍👧b"), "a\u{fffd}b");
        assert_eq!(shown("שלום"), REPLACEMENT.repeat(4));
    }

    #[test]
    fn mixed_text_becomes_runs_in_order() {
        let runs = Fonts::get().unwrap().shape("BTS 방탄 live", Weight::Bold);
        let texts: Vec<_> = runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(texts, ["BTS ", "방탄", " live"]);
        assert!(runs[1].embolden && !runs[0].embolden);
    }

    #[test]
    fn no_character_that_a_font_claims_is_drawn_as_notdef() {
        let fonts = Fonts::get().unwrap();
        for face in [&fonts.regular, &fonts.bold, &fonts.east_asian] {
            let all = face.charmap.mappings().map(|(code_point, _)| code_point);
            let all: Vec<char> = all.filter_map(char::from_u32).collect();
            for some in all.chunks(64) {
                let text: String = some.iter().collect();
                let glyphs = face.shape(&text);
                let missing = glyphs.iter().find(|g| g.glyph_id.to_u32() == 0);
                assert!(missing.is_none(), "{missing:?} of {text:?}");
            }
        }
    }
}
