//! The look of Onsale: colours, type and space of `web/tokens.css`, for what is no page.
//!
//! The file is read when the program is built, so a name that it lacks does not compile.

use std::fmt;

const CSS: &str = include_str!("../../../web/tokens.css");
const DARK_FROM: &str = "prefers-color-scheme: dark";
/// A rem of the pages, in pixels.
const REM: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// As CSS writes it: `#4a3aa7`.
impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The colours of one scheme. `on_x` is the text on a ground of the colour `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// The paper that everything lies on.
    pub room: Colour,
    /// The ticket on the paper.
    pub card: Colour,
    pub ink: Colour,
    pub quiet: Colour,
    pub line: Colour,
    pub accent: Colour,
    pub on_accent: Colour,
    pub stub: Colour,
    pub on_stub: Colour,
}

pub const LIGHT: Palette = Palette::at(0);
pub const DARK: Palette = Palette::at(end_of(DARK_FROM, 0));

/// The families of running text and of titles.
pub const TEXT: &str = value("text", 0);
pub const DISPLAY: &str = value("display", 0);
/// Sizes of type, in pixels.
pub const SIZE: u32 = pixels("size");
pub const SIZE_SMALL: u32 = pixels("size-small");
/// Space between and around things, in pixels.
pub const SPACE: u32 = pixels("space");
pub const SPACE_SMALL: u32 = pixels("space-small");
pub const SPACE_LARGE: u32 = pixels("space-large");
pub const RADIUS: u32 = pixels("radius");
/// What a finger can hit.
pub const TARGET: u32 = pixels("target");

impl Palette {
    /// The values that stand after this byte of the file.
    const fn at(from: usize) -> Self {
        Self {
            room: colour("room", from),
            card: colour("card", from),
            ink: colour("ink", from),
            quiet: colour("quiet", from),
            line: colour("line", from),
            accent: colour("accent", from),
            on_accent: colour("on-accent", from),
            stub: colour("stub", from),
            on_stub: colour("on-stub", from),
        }
    }
}

const fn is_at(text: &[u8], wanted: &[u8], at: usize) -> bool {
    let mut i = 0;
    while i < wanted.len() {
        if at + i >= text.len() || text[at + i] != wanted[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The byte after the first occurrence of a text.
const fn end_of(wanted: &str, from: usize) -> usize {
    let (css, wanted) = (CSS.as_bytes(), wanted.as_bytes());
    let mut at = from;
    while at < css.len() {
        if is_at(css, wanted, at) {
            return at + wanted.len();
        }
        at += 1;
    }
    panic!("tokens.css does not have a name that the look needs")
}

/// What stands between `--name:` and the next semicolon.
const fn value(name: &str, from: usize) -> &'static str {
    let css = CSS.as_bytes();
    let mut at = from;
    loop {
        at = end_of("--", at);
        let colon = at + name.len();
        if is_at(css, name.as_bytes(), at) && is_at(css, b":", colon) {
            let (_, rest) = CSS.split_at(colon + 1);
            let mut end = 0;
            while rest.as_bytes()[end] != b';' {
                end += 1;
            }
            return rest.split_at(end).0.trim_ascii();
        }
    }
}

const fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => panic!("a colour of tokens.css is not hexadecimal"),
    }
}

const fn colour(name: &str, from: usize) -> Colour {
    let text = value(name, from).as_bytes();
    assert!(text[0] == b'#', "a colour of tokens.css is not hexadecimal");
    match text.len() {
        4 => Colour(hex(text[1]) * 17, hex(text[2]) * 17, hex(text[3]) * 17),
        7 => Colour(
            hex(text[1]) * 16 + hex(text[2]),
            hex(text[3]) * 16 + hex(text[4]),
            hex(text[5]) * 16 + hex(text[6]),
        ),
        _ => panic!("a colour of tokens.css has three or six digits"),
    }
}

/// A length such as `1.0625rem` or `16px`, rounded to whole pixels.
const fn pixels(name: &str) -> u32 {
    let text = value(name, 0).as_bytes();
    let (mut number, mut scale, mut is_fraction) = (0, 1, false);
    let mut at = 0;
    while at < text.len() && (text[at].is_ascii_digit() || text[at] == b'.') {
        if text[at] == b'.' {
            is_fraction = true;
        } else {
            number = number * 10 + (text[at] - b'0') as u32;
            scale = if is_fraction { scale * 10 } else { scale };
        }
        at += 1;
    }
    let unit = if is_at(text, b"rem", at) {
        REM
    } else if is_at(text, b"px", at) {
        1
    } else {
        panic!("a length of tokens.css is in rem or px")
    };
    (number * unit + scale / 2) / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast of two colours by WCAG 2.2.
    fn contrast(one: Colour, other: Colour) -> f64 {
        let channel = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let luminance = |Colour(red, green, blue): Colour| {
            0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn values_are_those_of_the_file() {
        assert_eq!(LIGHT.room.to_string(), value("room", 0));
        assert_ne!(LIGHT.room, DARK.room);
        assert_eq!(LIGHT.on_accent, Colour(255, 255, 255), "three digits");
        assert_eq!((SIZE, SPACE, RADIUS, TARGET), (17, 16, 16, 44));
        assert!(DISPLAY.ends_with("serif"), "{DISPLAY}");
    }

    #[test]
    fn every_text_can_be_read_on_its_ground_in_light_and_in_dark() {
        let black_and_white = contrast(Colour(0, 0, 0), Colour(255, 255, 255));
        assert!((black_and_white - 21.0).abs() < 1e-9);
        for scheme in [LIGHT, DARK] {
            let Palette { room, card, .. } = scheme;
            for (text, ground) in [
                (scheme.ink, card),
                (scheme.ink, room),
                (scheme.quiet, card),
                (scheme.quiet, room),
                (scheme.accent, card),
                (scheme.accent, room),
                (scheme.on_accent, scheme.accent),
                (scheme.on_stub, scheme.stub),
            ] {
                let contrast = contrast(text, ground);
                assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
            }
        }
    }

    /// The pages use them; a mail does not.
    #[test]
    fn the_other_texts_of_the_file_can_be_read_as_well() {
        for from in [0, end_of(DARK_FROM, 0)] {
            for (text, ground) in [
                ("on-notice", "notice"),
                ("go", "card"),
                ("go", "room"),
                ("on-accent", "go"),
                ("on-stub", "go-stub"),
                ("bad", "card"),
                ("bad", "room"),
                ("on-accent", "bad"),
            ] {
                let contrast = contrast(colour(text, from), colour(ground, from));
                assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
            }
        }
    }
}
