//! The font files in the program: which characters each of them has, and its glyphs for a
//! piece of text in one script that runs one way.

use harfrust::{Direction, Script, ShapeOptions, ShaperData, UnicodeBuffer, script::UNKNOWN};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider as _};
use std::sync::Arc;
use unicode_bidi::Level;

pub(crate) static REGULAR: &[u8] = include_bytes!("../fonts/NotoSans-Regular.ttf");
pub(crate) static BOLD: &[u8] = include_bytes!("../fonts/NotoSans-Bold.ttf");

/// Beyond Latin, Greek and Cyrillic there is one weight.
pub(crate) static OTHER_SCRIPTS: [&[u8]; 19] = [
    include_bytes!("../fonts/NotoSansCJKsc-Regular-subset.otf"),
    include_bytes!("../fonts/NotoSansArabic-Regular.ttf"),
    include_bytes!("../fonts/NotoSansArmenian-Regular.ttf"),
    include_bytes!("../fonts/NotoSansBengali-Regular.ttf"),
    include_bytes!("../fonts/NotoSansDevanagari-Regular.ttf"),
    include_bytes!("../fonts/NotoSansEthiopic-Regular.ttf"),
    include_bytes!("../fonts/NotoSansGeorgian-Regular.ttf"),
    include_bytes!("../fonts/NotoSansGujarati-Regular.ttf"),
    include_bytes!("../fonts/NotoSansGurmukhi-Regular.ttf"),
    include_bytes!("../fonts/NotoSansHebrew-Regular.ttf"),
    include_bytes!("../fonts/NotoSansKannada-Regular.ttf"),
    include_bytes!("../fonts/NotoSansKhmer-Regular.ttf"),
    include_bytes!("../fonts/NotoSansLao-Regular.ttf"),
    include_bytes!("../fonts/NotoSansMalayalam-Regular.ttf"),
    include_bytes!("../fonts/NotoSansMyanmar-Regular.ttf"),
    include_bytes!("../fonts/NotoSansSinhala-Regular.ttf"),
    include_bytes!("../fonts/NotoSansTamil-Regular.ttf"),
    include_bytes!("../fonts/NotoSansTelugu-Regular.ttf"),
    include_bytes!("../fonts/NotoSansThai-Regular.ttf"),
];

/// The script of a letter; `None` for what every script uses, such as digits.
pub(crate) fn script_of(letter: &str) -> Option<Script> {
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(letter);
    buffer.guess_segment_properties();
    Some(buffer.script()).filter(|script| *script != UNKNOWN)
}

pub(crate) struct Face {
    pub(crate) font: Font,
    parsed: FontRef<'static>,
    charmap: Charmap<'static>,
    shaper: ShaperData,
    units_per_em: f32,
}

impl Face {
    pub(crate) fn parse(data: &'static [u8]) -> Option<Self> {
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

    pub(crate) fn has(&self, letter: &str) -> bool {
        letter.chars().all(|c| self.charmap.map(c).is_some())
    }

    /// The glyphs from left to right, each with the part of the text that it shows.
    pub(crate) fn shape(
        &self,
        text: &str,
        script: Option<Script>,
        level: Level,
    ) -> Vec<KrillaGlyph> {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        if let Some(script) = script {
            buffer.set_script(script);
        }
        buffer.set_direction(if level.is_rtl() {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_a_font_claims_is_drawn_as_notdef() {
        for data in [REGULAR, BOLD].into_iter().chain(OTHER_SCRIPTS) {
            let face = Face::parse(data).unwrap();
            let all = face.charmap.mappings().map(|(code_point, _)| code_point);
            let all: Vec<char> = all.filter_map(char::from_u32).collect();
            for some in all.chunks(64) {
                let text: String = some.iter().collect();
                for level in [Level::ltr(), Level::rtl()] {
                    let glyphs = face.shape(&text, script_of(&text), level);
                    let missing = glyphs.iter().find(|g| g.glyph_id.to_u32() == 0);
                    assert!(missing.is_none(), "{missing:?} of {text:?}");
                }
            }
        }
    }
}
