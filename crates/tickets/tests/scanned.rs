//! What a scanner at the gate sees, read by a decoder that shares no code with the
//! encoder.
#![allow(clippy::unwrap_used)] // a helper that fails fails its test

mod sample;

use onsale_tickets::{QrError, pdf, svg};
use sample::{page, real_code};
use std::process::Command;

/// A greyscale picture.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    /// Draws the path of an SVG whose every step is `M x y h length v1 h-length z`.
    fn of_svg(svg: &str, scale: usize) -> Self {
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

    /// Reads a binary PGM, as pdftoppm writes it.
    fn of_pgm(bytes: &[u8]) -> Self {
        let mut fields = bytes.splitn(4, |b| b.is_ascii_whitespace());
        assert_eq!(fields.next(), Some(&b"P5"[..]));
        let mut number = || -> usize {
            let field = fields.next().unwrap();
            std::str::from_utf8(field).unwrap().parse().unwrap()
        };
        let (width, height) = (number(), number());
        let pixels = bytes[bytes.len() - width * height..].to_vec();
        Self {
            width,
            height,
            pixels,
        }
    }

    fn scan(&self) -> Vec<String> {
        let mut prepared =
            rqrr::PreparedImage::prepare_from_greyscale(self.width, self.height, |x, y| {
                self.pixels[y * self.width + x]
            });
        let grids = prepared.detect_grids();
        grids.iter().map(|grid| grid.decode().unwrap().1).collect()
    }
}

#[test]
fn the_svg_scans_to_the_code() {
    for serial in 0..8 {
        let code = real_code(serial);
        let svg = svg(&code).unwrap();
        assert_eq!(Picture::of_svg(&svg, 4).scan(), [code]);
    }
}

#[test]
fn the_symbol_of_a_real_code_is_version_7_with_its_quiet_zone() {
    let svg = svg(&real_code(0)).unwrap();
    assert!(
        svg.contains("viewBox=\"0 0 53 53\""),
        "45 modules and twice 4"
    );
    assert!(svg.contains("role=\"img\"") && svg.contains("<title>"));
    assert!(svg.contains("shape-rendering=\"crispEdges\""));
    assert!(svg.len() < 16_000, "{} bytes", svg.len());
}

#[test]
fn a_text_that_is_no_code_has_no_symbol() {
    assert_eq!(svg(""), Err(QrError::Alphabet));
    assert_eq!(svg("lower case"), Err(QrError::Alphabet));
    assert_eq!(svg("\"><script>"), Err(QrError::Alphabet));
    assert!(svg(&"A".repeat(178)).is_ok());
    assert_eq!(svg(&"A".repeat(179)), Err(QrError::TooLong(179)));
}

#[test]
fn every_printed_page_scans_to_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages: Vec<_> = (0..3).map(page).collect();
    // The longest texts leave the least room for the symbol.
    pages[2].event = "Wagner ".repeat(60);
    pages[2].venue = "Festspielhaus ".repeat(20);
    pages[2].starts_at_text = "A day in summer ".repeat(10);
    pages[2].section = "Parterre rechts 1234".into();
    std::fs::write(folder.path().join("tickets.pdf"), pdf(&pages).unwrap()).unwrap();
    // 100 dpi: less than any phone shows.
    let rendered = Command::new("pdftoppm")
        .args(["-gray", "-r", "100", "tickets.pdf", "page"])
        .current_dir(folder.path())
        .output();
    let Ok(rendered) = rendered else {
        eprintln!("skipped: pdftoppm (poppler-utils) is not installed");
        return;
    };
    assert!(rendered.status.success());
    for (index, page) in pages.iter().enumerate() {
        let file = folder.path().join(format!("page-{}.pgm", index + 1));
        let picture = Picture::of_pgm(&std::fs::read(file).unwrap());
        assert_eq!(picture.scan(), [page.code.as_str()], "page {index}");
    }
}
