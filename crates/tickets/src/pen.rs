//! The pen: text and shapes on a page, each with what it means to a screen reader.

use krilla::geom::{Path, PathBuilder, Point, Rect, Transform};
use krilla::paint::{Fill, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, Identifier, SpanTag, TagGroup};

use crate::fonts::{Fonts, Weight};
use crate::lines::{Fit, Lines};
use crate::look::Colour;

/// From one line to the next, in ems.
pub(crate) const LEADING: f32 = 1.25;

/// From the top of a line to where its letters stand, in ems. The capitals of Noto Sans
/// rise 0.71 em, so this puts them in the middle.
pub(crate) const BASELINE: f32 = LEADING / 2.0 + 0.36;

/// The outline of a glyph whose font has no bold, in ems.
const EMBOLDENING: f32 = 0.035;

fn fill(Colour(red, green, blue): Colour) -> Fill {
    Fill {
        paint: krilla::color::rgb::Color::new(red, green, blue).into(),
        ..Fill::default()
    }
}

fn stroke(Colour(red, green, blue): Colour, width: f32) -> Stroke {
    Stroke {
        paint: krilla::color::rgb::Color::new(red, green, blue).into(),
        width,
        ..Stroke::default()
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
    /// How large, the best way first.
    pub(crate) ways: &'static [Fit],
}

/// Text that was set and waits to be drawn.
pub(crate) struct Block {
    lines: Lines,
    weight: Weight,
    colour: Colour,
}

impl Block {
    pub(crate) fn size(&self) -> f32 {
        self.lines.size
    }

    pub(crate) fn height(&self) -> f32 {
        self.lines.lines.len() as f32 * self.lines.size * LEADING
    }
}

pub(crate) struct Pen<'a, 'b> {
    pub(crate) surface: &'a mut Surface<'b>,
    pub(crate) fonts: &'static Fonts,
}

impl Pen<'_, '_> {
    pub(crate) fn set(&self, text: &str, style: Style, width: f32) -> Block {
        Block {
            lines: Lines::set(self.fonts, text, style.weight, width, style.ways),
            weight: style.weight,
            colour: style.colour,
        }
    }

    /// How wide the widest line of a block is.
    pub(crate) fn width(&self, block: &Block) -> f32 {
        let ems = |line: &String| {
            self.fonts
                .width(line.trim_end(), block.weight, block.lines.base)
        };
        let widest = block.lines.lines.iter().map(ems).fold(0.0, f32::max);
        widest * block.size()
    }

    /// Draws a block below `y` as a part of `tag`. Returns its lower edge.
    pub(crate) fn draw(&mut self, block: &Block, x: f32, y: f32, tag: &mut TagGroup) -> f32 {
        let mut baseline = y + block.size() * BASELINE;
        for line in &block.lines.lines {
            tag.push(self.line(line, block, Point::from_xy(x, baseline)));
            baseline += block.size() * LEADING;
        }
        y + block.height()
    }

    fn line(&mut self, text: &str, block: &Block, start: Point) -> Identifier {
        let runs = self.fonts.shape(text, block.weight, block.lines.base);
        let shown: String = runs.iter().map(|run| run.text.as_str()).collect();
        // Where no font has a letter, a screen reader still gets what was written.
        let actual = (shown != text).then_some(text);
        let span = SpanTag::empty().with_actual_text(actual);
        let drawn = self.surface.start_tagged(ContentTag::Span(span));
        self.surface.set_fill(Some(fill(block.colour)));
        let size = block.size();
        for run in runs {
            let outline = stroke(block.colour, size * EMBOLDENING);
            self.surface.set_stroke(run.embolden.then_some(outline));
            let left = Point::from_xy(start.x + run.left * size, start.y);
            self.surface
                .draw_glyphs(left, &run.glyphs, run.font, &run.text, size, false);
        }
        self.surface.set_stroke(None);
        self.surface.end_tagged();
        drawn
    }

    /// Filled rectangles that mean something together, in a system of coordinates that
    /// suits them.
    pub(crate) fn figure(
        &mut self,
        parts: &[Rect],
        colour: Colour,
        to_page: Transform,
    ) -> Identifier {
        self.surface.push_transform(&to_page);
        let drawn = self.surface.start_tagged(ContentTag::Other);
        self.fill(parts, colour);
        self.surface.end_tagged();
        self.surface.pop();
        drawn
    }

    /// A filled rectangle that means nothing.
    pub(crate) fn backdrop(&mut self, rect: Option<Rect>, colour: Colour) {
        self.start_decoration();
        self.fill(rect.as_slice(), colour);
        self.surface.end_tagged();
    }

    /// Filled circles that mean nothing.
    pub(crate) fn dots(&mut self, centres: &[Point], radius: f32, colour: Colour) {
        // How far a control point is from the end of a quarter of a circle.
        let bow = radius * 0.552_285;
        let mut shape = PathBuilder::new();
        for Point { x, y } in centres.iter().copied() {
            let (left, right, top, bottom) = (x - radius, x + radius, y - radius, y + radius);
            shape.move_to(right, y);
            shape.cubic_to(right, y + bow, x + bow, bottom, x, bottom);
            shape.cubic_to(x - bow, bottom, left, y + bow, left, y);
            shape.cubic_to(left, y - bow, x - bow, top, x, top);
            shape.cubic_to(x + bow, top, right, y - bow, right, y);
            shape.close();
        }
        self.start_decoration();
        self.surface.set_fill(Some(fill(colour)));
        self.path(shape.finish());
        self.surface.end_tagged();
    }

    pub(crate) fn dashed_line(&mut self, from: Point, to: Point, colour: Colour) {
        self.start_decoration();
        let mut line = PathBuilder::new();
        line.move_to(from.x, from.y);
        line.line_to(to.x, to.y);
        self.surface.set_fill(None);
        self.surface.set_stroke(Some(Stroke {
            dash: Some(StrokeDash {
                array: vec![2.0, 3.0],
                offset: 0.0,
            }),
            ..stroke(colour, 0.8)
        }));
        self.path(line.finish());
        self.surface.set_stroke(None);
        self.surface.end_tagged();
    }

    fn start_decoration(&mut self) {
        let layout = Artifact::with_kind(ArtifactType::Layout);
        self.surface.start_tagged(ContentTag::Artifact(layout));
    }

    fn fill(&mut self, parts: &[Rect], colour: Colour) {
        let mut shape = PathBuilder::new();
        for part in parts {
            shape.push_rect(*part);
        }
        self.surface.set_fill(Some(fill(colour)));
        self.path(shape.finish());
    }

    fn path(&mut self, path: Option<Path>) {
        if let Some(path) = path {
            self.surface.draw_path(&path);
        }
    }
}
