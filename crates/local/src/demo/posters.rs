//! Posters of the demo, drawn by the program itself: one function a picture, which says the
//! colour of every point. They go the way of every upload.

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ImageError, Rgb, RgbImage};

/// Three to two, as posters are shown.
const WIDTH: u32 = 720;
const HEIGHT: u32 = 480;
/// Each pixel is looked at in so many rows and columns, which makes edges smooth.
const SAMPLES: u32 = 2;

/// A point of a picture: `y` goes from 0 at the top to 1, `x` from 0 at the left to 1.5.
#[derive(Clone, Copy)]
struct Point {
    x: f32,
    y: f32,
}

type Colour = [f32; 3];
type Art = fn(Point) -> Colour;

// The colours of web/tokens.css, in light and in dark.
const NIGHT: Colour = rgb(0x15, 0x13, 0x1b);
const INK: Colour = rgb(0x23, 0x20, 0x2b);
const PAPER: Colour = rgb(0xec, 0xe7, 0xdd);
const CARD: Colour = rgb(0xff, 0xfd, 0xf8);
const VIOLET: Colour = rgb(0x4a, 0x3a, 0xa7);
const DEEP_VIOLET: Colour = rgb(0x25, 0x1c, 0x5c);
const LILAC: Colour = rgb(0xb8, 0xab, 0xff);
const GREEN: Colour = rgb(0x0f, 0x6b, 0x47);
const MINT: Colour = rgb(0x7f, 0xdc, 0xb2);
const RED: Colour = rgb(0xa3, 0x27, 0x2f);
const ORANGE: Colour = rgb(0xf2, 0x41, 0x00);
const AMBER: Colour = rgb(0xff, 0xb4, 0x5e);
const STRAW: Colour = rgb(0xf8, 0xdf, 0xa0);

const fn rgb(red: u8, green: u8, blue: u8) -> Colour {
    [red as f32, green as f32, blue as f32]
}

/// The poster of a programme entry as a PNG file.
pub(super) fn of(key: &str) -> Option<Result<Vec<u8>, ImageError>> {
    let art: Art = match key {
        "demo" => opening_night,
        "demo-lighthouse" => lighthouse,
        "demo-tour" => northern_lights,
        "demo-late-set" => late_set,
        "demo-cup" => cup_final,
        "demo-ballet" => winter_ballet,
        "demo-open-mic" => open_mic,
        "demo-symphony" => ships,
        _ => return None,
    };
    Some(drawn(art))
}

fn drawn(art: Art) -> Result<Vec<u8>, ImageError> {
    let picture = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| pixel(art, x, y));
    let mut file = Vec::new();
    let (fast, filter) = (CompressionType::Fast, FilterType::Sub);
    let encoder = PngEncoder::new_with_quality(&mut file, fast, filter);
    picture.write_with_encoder(encoder)?;
    Ok(file)
}

fn pixel(art: Art, x: u32, y: u32) -> Rgb<u8> {
    let mut sum = [0.0; 3];
    let place = |pixel: u32, sample: u32| {
        (pixel as f32 + (sample as f32 + 0.5) / SAMPLES as f32) / HEIGHT as f32
    };
    for sample in 0..SAMPLES * SAMPLES {
        let point = Point {
            x: place(x, sample % SAMPLES),
            y: place(y, sample / SAMPLES),
        };
        for (sum, part) in sum.iter_mut().zip(art(point)) {
            *sum += part / (SAMPLES * SAMPLES) as f32;
        }
    }
    Rgb(sum.map(|value| value.round() as u8))
}

fn mix(from: Colour, to: Colour, share: f32) -> Colour {
    let share = share.clamp(0.0, 1.0);
    [0, 1, 2].map(|i| from[i] + (to[i] - from[i]) * share)
}

impl Point {
    fn distance(self, x: f32, y: f32) -> f32 {
        (self.x - x).hypot(self.y - y)
    }

    fn is_in_box(self, left: f32, top: f32, right: f32, bottom: f32) -> bool {
        (left..right).contains(&self.x) && (top..bottom).contains(&self.y)
    }

    /// Whether it is in the cone of a lamp that hangs at `(x, y)` and points at `towards`.
    fn is_lit(self, x: f32, y: f32, towards: f32, width: f32) -> bool {
        let depth = self.y - y;
        depth > 0.0 && (self.x - x - (towards - x) * depth).abs() < width * depth
    }
}

/// A number between 0 and 1 that looks random and is the same on every machine.
fn scattered(cell: u32) -> f32 {
    let mixed = cell.wrapping_mul(0x9e37_79b9).rotate_left(13) ^ cell;
    (mixed.wrapping_mul(0x85eb_ca6b) >> 8) as f32 / (1 << 24) as f32
}

/// Dots of these sizes, one in each cell of a grid of so many columns a height.
fn is_dot(p: Point, columns: f32, sizes: (f32, f32)) -> bool {
    let (column, row) = ((p.x * columns) as u32, (p.y * columns) as u32);
    let cell = column * 97 + row * 389 + 1;
    let at = |start: u32, n: u32| (start as f32 + 0.2 + 0.6 * scattered(cell + n)) / columns;
    let size = sizes.0 + (sizes.1 - sizes.0) * scattered(cell + 4_000);
    p.distance(at(column, 0), at(row, 2_000)) < size
}

/// Three lamps over a stage.
fn opening_night(p: Point) -> Colour {
    let mut colour = mix(DEEP_VIOLET, VIOLET, p.y);
    let lamps = [(0.3, 0.75, 0.22), (1.2, 0.75, 0.22), (0.75, 0.75, 0.16)];
    for (x, towards, width) in lamps {
        if p.is_lit(x, -0.08, towards, width) {
            colour = mix(colour, STRAW, 0.3);
        }
    }
    let floor = 0.78 + 0.05 * (p.x - 0.75).powi(2);
    if p.distance(0.75, 0.72) < 0.19 && p.y < floor {
        colour = AMBER;
    }
    if p.y > floor {
        colour = mix(INK, DEEP_VIOLET, (p.y - floor) * 3.0);
    }
    colour
}

/// A tower on a rock, and its light over the sea.
fn lighthouse(p: Point) -> Colour {
    let mut colour = mix(NIGHT, rgb(0x2c, 0x4f, 0x73), p.y * 1.2);
    if is_dot(p, 9.0, (0.002, 0.004)) && p.y < 0.6 {
        colour = CARD;
    }
    let (lamp_x, lamp_y) = (0.42, 0.25);
    let reach = p.x - lamp_x;
    if reach > 0.0 && (p.y - lamp_y - 0.1 * reach).abs() < 0.02 + 0.17 * reach {
        colour = mix(STRAW, colour, reach * 0.75);
    }
    let wave = 0.76 + 0.018 * (p.x * 14.0).sin();
    if p.y > wave {
        colour = rgb(0x1d, 0x3a, 0x5c);
    }
    if p.y > wave + 0.1 + 0.012 * (p.x * 9.0).cos() {
        colour = rgb(0x14, 0x29, 0x44);
    }
    if p.distance(0.42, 1.02) < 0.32 && p.y > 0.74 {
        colour = INK;
    }
    let half = 0.055 + 0.05 * (p.y - 0.3);
    if (0.3..0.8).contains(&p.y) && reach.abs() < half {
        let is_red = ((p.y - 0.3) * 10.0) as u32 % 2 == 1;
        colour = if is_red { RED } else { PAPER };
    }
    if p.is_in_box(0.375, 0.21, 0.465, 0.3) {
        colour = STRAW;
    }
    if p.is_in_box(0.35, 0.29, 0.49, 0.31) || (p.y > 0.14 && p.y < 0.21 && reach.abs() < p.y - 0.13)
    {
        colour = INK;
    }
    colour
}

/// Curtains of light over mountains.
fn northern_lights(p: Point) -> Colour {
    let mut colour = mix(NIGHT, rgb(0x10, 0x2a, 0x38), p.y);
    if is_dot(p, 12.0, (0.001, 0.003)) {
        colour = CARD;
    }
    let curtains = [
        (0.5, 3.0, 0.0, MINT),
        (0.42, 4.2, 1.7, LILAC),
        (0.58, 2.3, 3.9, GREEN),
    ];
    for (height, pace, shift, light) in curtains {
        let edge = height + 0.11 * (p.x * pace + shift).sin() + 0.03 * (p.x * 17.0 + shift).sin();
        let above = edge - p.y;
        if above > 0.0 {
            let folds = 0.75 + 0.25 * (p.x * 40.0 + 6.0 * (p.x * pace).cos()).sin();
            colour = mix(colour, light, (0.85 - above * 2.0).max(0.0) * folds);
        }
    }
    let ridge = |pace: f32, height: f32, at: f32| {
        let saw = (p.x * pace + at).fract();
        height - 0.16 * (1.0 - (2.0 * saw - 1.0).abs())
    };
    if p.y > ridge(2.4, 0.84, 0.3) {
        colour = rgb(0x1a, 0x24, 0x33);
    }
    if p.y > ridge(1.7, 0.94, 0.7) {
        colour = NIGHT;
    }
    colour
}

/// A record that turns, and its arm.
fn late_set(p: Point) -> Colour {
    let mut colour = mix(rgb(0x7a, 0x1f, 0x2b), rgb(0x3a, 0x10, 0x1c), p.y);
    let from_centre = p.distance(0.98, 0.56);
    if from_centre < 0.5 {
        let angle = (p.y - 0.56).atan2(p.x - 0.98);
        let shine = (angle * 2.0 - 0.6).cos().max(0.0).powi(6);
        let groove = if (from_centre * 60.0).fract() < 0.25 {
            0.1
        } else {
            0.0
        };
        colour = mix(NIGHT, PAPER, groove + 0.22 * shine);
    }
    if from_centre < 0.17 {
        colour = AMBER;
    }
    if (0.115..0.125).contains(&from_centre) || from_centre < 0.016 {
        colour = INK;
    }
    let along = p.y - 0.05;
    let arm = 0.3 + along * 0.72;
    if p.distance(0.3, 0.1) < 0.07 || ((0.05..0.52).contains(&p.y) && (p.x - arm).abs() < 0.014) {
        colour = STRAW;
    }
    colour
}

/// A rink from above.
fn cup_final(p: Point) -> Colour {
    let mut colour = mix(
        rgb(0xf4, 0xfa, 0xff),
        rgb(0xcf, 0xe3, 0xf2),
        p.distance(0.75, 0.5),
    );
    let scratch = ((p.x * 3.1 + p.y * 5.3).sin() * 40.0).fract().abs();
    if scratch < 0.02 {
        colour = mix(colour, CARD, 0.7);
    }
    let blue = rgb(0x2d, 0x5f, 0xb8);
    if (p.x - 0.36).abs() < 0.018 || (p.x - 1.14).abs() < 0.018 {
        colour = blue;
    }
    if (p.x - 0.75).abs() < 0.012 {
        colour = RED;
    }
    let ring = p.distance(0.75, 0.5);
    if (ring - 0.24).abs() < 0.008 {
        colour = blue;
    }
    for (x, y) in [(0.15, 0.22), (0.15, 0.78), (1.35, 0.22), (1.35, 0.78)] {
        let spot = p.distance(x, y);
        if (spot - 0.13).abs() < 0.006 || spot < 0.016 {
            colour = RED;
        }
    }
    if p.distance(0.83, 0.47) < 0.065 {
        colour = mix(colour, INK, 0.25);
    }
    if p.distance(0.82, 0.455) < 0.06 {
        colour = INK;
    }
    colour
}

/// A clock at five to midnight, and snow that rises.
fn winter_ballet(p: Point) -> Colour {
    let mut colour = mix(rgb(0x8d, 0x9b, 0xd6), rgb(0xe4, 0xe3, 0xf5), p.y);
    let (x, y) = (p.x - 0.75, p.y - 0.48);
    let from_centre = x.hypot(y);
    if from_centre < 0.36 {
        colour = CARD;
        // Twelve hours, of 30 degrees each.
        let hour = y.atan2(x) / std::f32::consts::TAU * 12.0;
        let is_hour = (hour - hour.round()).abs() * from_centre < 0.02;
        if (from_centre - 0.35).abs() < 0.012
            || (from_centre > 0.29 && from_centre < 0.325 && is_hour)
        {
            colour = VIOLET;
        }
        let is_small_hand = x.abs() < 0.013 && (-0.17..0.03).contains(&y);
        // Five minutes before the full hour the large hand leans by 30 degrees.
        let (sin, cos) = std::f32::consts::FRAC_PI_6.sin_cos();
        let (across, along) = (x * cos - y * sin, x * sin + y * cos);
        let is_large_hand = across.abs() < 0.008 && (-0.26..0.03).contains(&along);
        if is_small_hand || is_large_hand || from_centre < 0.022 {
            colour = INK;
        }
    }
    if is_dot(p, 11.0, (0.004, 0.016)) && from_centre > 0.37 {
        colour = CARD;
    }
    colour
}

/// A microphone in front of rays.
fn open_mic(p: Point) -> Colour {
    let ray = (p.y - 0.36).atan2(p.x - 0.75) / std::f32::consts::TAU * 24.0;
    let is_bright = ray.rem_euclid(2.0) < 1.0;
    let mut colour = if is_bright { AMBER } else { ORANGE };
    let nearest = p.y.clamp(0.27, 0.45);
    if p.distance(0.75, nearest) < 0.15 {
        colour = INK;
    }
    if p.distance(0.75, nearest) < 0.125 {
        let is_wire = (p.x * 36.0).fract() < 0.3 || (p.y * 36.0).fract() < 0.3;
        colour = if is_wire && p.y < 0.44 { PAPER } else { INK };
    }
    let from_head = p.distance(0.75, 0.45);
    let is_fork = p.y > 0.45 && (0.2..0.225).contains(&from_head);
    if is_fork || p.is_in_box(0.735, 0.66, 0.765, 0.9) || p.is_in_box(0.6, 0.88, 0.9, 0.915) {
        colour = INK;
    }
    colour
}

/// Ships on rows of waves, before the sun.
fn ships(p: Point) -> Colour {
    let mut colour = mix(rgb(0xf7, 0xd9, 0xa8), rgb(0xf0, 0x9a, 0x6b), p.y * 1.4);
    if p.distance(1.08, 0.44) < 0.22 {
        colour = CARD;
    }
    for (left, size, waterline) in [(0.22, 0.2, 0.56), (0.78, 0.15, 0.53)] {
        let (x, y) = ((p.x - left) / size, (waterline - p.y) / size);
        let is_hull = (-0.3..0.22).contains(&y) && x > 0.1 - y * 0.5 && x < 1.9 + y * 0.6;
        let is_house = (0.2..0.62).contains(&y) && (0.5..1.2).contains(&x);
        let is_funnel = (0.6..1.0).contains(&y) && (0.72..0.95).contains(&x);
        if is_hull {
            colour = INK;
        } else if is_house {
            colour = PAPER;
        } else if is_funnel {
            colour = RED;
        }
    }
    let sea = [
        (0.56, GREEN),
        (0.68, rgb(0x0d, 0x58, 0x57)),
        (0.82, rgb(0x0a, 0x3f, 0x48)),
    ];
    for (row, (height, water)) in sea.into_iter().enumerate() {
        let crest = (p.x * 11.0 + row as f32 * 1.3).sin().abs();
        if p.y > height + 0.045 * crest {
            colour = water;
        }
    }
    colour
}

#[cfg(test)]
mod tests {
    use super::super::programme::PROGRAMME;

    #[test]
    fn every_event_of_the_programme_has_a_poster_of_its_own() {
        let mut posters = Vec::new();
        for entry in &PROGRAMME {
            let file = super::of(entry.key).unwrap().unwrap();
            let kept = onsale_posters::encoded_again(&file).unwrap();
            assert!(kept.len() < 80_000, "{}: {} bytes", entry.key, kept.len());
            assert!(!posters.contains(&kept), "{}", entry.key);
            posters.push(kept);
        }
    }
}
