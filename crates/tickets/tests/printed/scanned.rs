//! What a scanner at the gate sees, read by a decoder that shares no code with the
//! encoder.
#![allow(clippy::unwrap_used)] // a helper that fails fails its test

use crate::picture::Picture;
use crate::sample::{page, real_code};
use onsale_domain::language::Language;
use onsale_tickets::{QrError, pdf, svg};
use std::process::Command;

#[test]
fn the_svg_as_a_png_scans_to_the_code() {
    for serial in 0..8 {
        let code = real_code(serial);
        let svg = svg(&code).unwrap();
        let png = Picture::of_svg(&svg, 4).to_png();
        assert_eq!(Picture::of_png(&png).scan(), [code]);
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
    std::fs::write(
        folder.path().join("tickets.pdf"),
        pdf(&pages, Language::De).unwrap(),
    )
    .unwrap();
    // 100 dpi: less than any phone shows.
    let rendered = Command::new("pdftoppm")
        .args(["-png", "-gray", "-r", "100", "tickets.pdf", "page"])
        .current_dir(folder.path())
        .output();
    let Ok(rendered) = rendered else {
        eprintln!(
            "SKIPPED: pdftoppm is missing. On Debian and Ubuntu: apt-get install poppler-utils"
        );
        return;
    };
    assert!(rendered.status.success());
    for (index, page) in pages.iter().enumerate() {
        let file = folder.path().join(format!("page-{}.png", index + 1));
        let picture = Picture::of_png(&std::fs::read(file).unwrap());
        assert_eq!(picture.scan(), [page.code.as_str()], "page {index}");
    }
}
