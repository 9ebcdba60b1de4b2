//! Pictures of tickets, drawn, written, read and scanned.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Eight bits a pixel, grey, and nothing special.
const GREYSCALE_8: [u8; 5] = [8, 0, 0, 0, 0];
/// Red, green and blue: some write grey so.
const COLOUR_8: [u8; 5] = [8, 2, 0, 0, 0];

fn checksum(name: &[u8; 4], data: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(name);
    sum.update(data);
    sum.sum()
}

/// A row of a PNG as it looks: it is stored as what differs from its neighbours.
fn unfiltered(filter: u8, stored: &[u8], above: &[u8], channels: usize) -> Vec<u8> {
    let mut row: Vec<u8> = Vec::with_capacity(stored.len());
    for (x, stored) in stored.iter().enumerate() {
        let left = x.checked_sub(channels).map_or(0, |x| row[x]);
        let corner = x.checked_sub(channels).map_or(0, |x| above[x]);
        let guess = match filter {
            0 => 0,
            1 => left,
            2 => above[x],
            3 => u16::midpoint(left.into(), above[x].into()) as u8,
            4 => paeth(left, above[x], corner),
            other => unreachable!("PNG has no filter {other}"),
        };
        row.push(stored.wrapping_add(guess));
    }
    row
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let sum = i16::from(left) + i16::from(above) - i16::from(corner);
    let away = |side: u8| (sum - i16::from(side)).abs();
    let nearest = [left, above, corner];
    // Of several the first counts.
    nearest.into_iter().min_by_key(|side| away(*side)).unwrap()
}

/// A greyscale picture.
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    /// Draws the path of an SVG whose every step is `M x y h length v1 h-length z`.
    pub fn of_svg(svg: &str, scale: usize) -> Self {
        let between = |text: &str, from: &str, to: &str| {
            let rest = text.split_once(from).unwrap().1;
            rest.split_once(to).unwrap().0.to_owned()
        };
        let side: usize = between(svg, "viewBox=\"0 0 ", " ").parse().unwrap();
        let width = side * scale;
        let mut pixels = vec![255; width * width];
        for bar in between(svg, "<path d=\"", "\"")
            .split('z')
            .filter(|s| !s.is_empty())
        {
            let start = between(bar, "M", "h");
            let (x, y) = start.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = between(bar, "h", "v").parse().unwrap();
            assert_eq!(bar, format!("M{x} {y}h{length}v1h-{length}"));
            for row in y * scale..(y + 1) * scale {
                pixels[row * width..][x * scale..(x + length) * scale].fill(0);
            }
        }
        Self {
            width,
            height: width,
            pixels,
        }
    }

    /// The picture as a file that any viewer opens.
    pub fn to_png(&self) -> Vec<u8> {
        let mut header = Vec::new();
        for side in [self.width, self.height] {
            header.extend(u32::try_from(side).unwrap().to_be_bytes());
        }
        header.extend(GREYSCALE_8);
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in self.pixels.chunks(self.width) {
            rows.write_all(&[0]).unwrap();
            rows.write_all(row).unwrap();
        }
        let mut file = SIGNATURE.to_vec();
        for (name, data) in [
            (b"IHDR", header),
            (b"IDAT", rows.finish().unwrap()),
            (b"IEND", Vec::new()),
        ] {
            file.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            file.extend(name);
            file.extend(&data);
            file.extend(checksum(name, &data).to_be_bytes());
        }
        file
    }

    /// Reads a PNG in grey, whoever wrote it.
    pub fn of_png(file: &[u8]) -> Self {
        let mut rest = file.strip_prefix(SIGNATURE).unwrap();
        let (mut header, mut packed) = (Vec::new(), Vec::new());
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            let (name, after) = after.split_first_chunk::<4>().unwrap();
            let (data, after) = after.split_at(length);
            let (sum, after) = after.split_first_chunk::<4>().unwrap();
            assert_eq!(checksum(name, data), u32::from_be_bytes(*sum));
            match name {
                b"IHDR" => header = data.to_vec(),
                b"IDAT" => packed.extend(data),
                _ => {}
            }
            rest = after;
        }
        let side = |at: usize| u32::from_be_bytes(*header[at..].first_chunk().unwrap()) as usize;
        let channels = match &header[8..] {
            kind if *kind == GREYSCALE_8 => 1,
            kind if *kind == COLOUR_8 => 3,
            other => unreachable!("a PNG of another kind: {other:?}"),
        };
        let (width, height) = (side(0), side(4));
        let mut rows = Vec::new();
        ZlibDecoder::new(packed.as_slice())
            .read_to_end(&mut rows)
            .unwrap();
        let mut pixels: Vec<u8> = Vec::with_capacity(width * height);
        let mut above = vec![0; width * channels];
        for row in rows.chunks(width * channels + 1) {
            above = unfiltered(row[0], &row[1..], &above, channels);
            pixels.extend(above.iter().step_by(channels));
        }
        assert_eq!(pixels.len(), width * height);
        Self {
            width,
            height,
            pixels,
        }
    }

    pub fn scan(&self) -> Vec<String> {
        let mut prepared =
            rqrr::PreparedImage::prepare_from_greyscale(self.width, self.height, |x, y| {
                self.pixels[y * self.width + x]
            });
        let grids = prepared.detect_grids();
        grids.iter().map(|grid| grid.decode().unwrap().1).collect()
    }
}
