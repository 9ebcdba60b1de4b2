//! What becomes of files that are sent as posters.

#![allow(clippy::unwrap_used)]

mod bounds;
mod files;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use onsale_posters::{Refused, encoded_again};

use files::{exif, png_chunk};

const RED: Rgb<u8> = Rgb([200, 30, 30]);
const BLUE: Rgb<u8> = Rgb([30, 30, 200]);

/// Red on the left, blue on the right.
fn two_halves(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { RED } else { BLUE })
}

fn written(picture: &RgbImage, write: impl FnOnce(&mut Vec<u8>, &RgbImage)) -> Vec<u8> {
    let mut file = Vec::new();
    write(&mut file, picture);
    file
}

fn png(picture: &RgbImage) -> Vec<u8> {
    written(picture, |file, picture| {
        picture.write_with_encoder(PngEncoder::new(file)).unwrap();
    })
}

fn jpeg(picture: &RgbImage, exif: Vec<u8>) -> Vec<u8> {
    written(picture, |file, picture| {
        let mut encoder = JpegEncoder::new_with_quality(file, 90);
        encoder.set_exif_metadata(exif).unwrap();
        picture.write_with_encoder(encoder).unwrap();
    })
}

fn webp(picture: &RgbImage) -> Vec<u8> {
    written(picture, |file, picture| {
        let encoder = WebPEncoder::new_lossless(file);
        picture.write_with_encoder(encoder).unwrap();
    })
}

/// What is kept of a file, as everybody else reads it.
fn kept(file: &[u8]) -> RgbImage {
    let jpeg = encoded_again(file).unwrap();
    let format = image::guess_format(&jpeg).unwrap();
    assert_eq!(format, ImageFormat::Jpeg);
    image::load_from_memory(&jpeg).unwrap().into_rgb8()
}

fn is_near(seen: &Rgb<u8>, meant: &Rgb<u8>) -> bool {
    let mut pairs = seen.0.iter().zip(meant.0);
    pairs.all(|(seen, meant)| seen.abs_diff(meant) < 20)
}

#[test]
fn a_picture_of_each_format_becomes_a_jpeg_of_the_same_picture() {
    let picture = two_halves(64, 48);
    for file in [png(&picture), jpeg(&picture, vec![]), webp(&picture)] {
        let kept = kept(&file);
        assert_eq!(kept.dimensions(), (64, 48));
        assert!(is_near(kept.get_pixel(8, 24), &RED));
        assert!(is_near(kept.get_pixel(56, 24), &BLUE));
    }
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let file = png(&two_halves(64, 48));
    assert_eq!(encoded_again(&file), encoded_again(&file));
}

#[test]
fn a_large_picture_is_made_smaller_and_keeps_its_proportion() {
    let kept = kept(&png(&two_halves(2_400, 1_000)));
    assert_eq!(kept.dimensions(), (1_200, 500));
    assert!(is_near(kept.get_pixel(300, 250), &RED));
    assert!(is_near(kept.get_pixel(900, 250), &BLUE));
}

/// As a telephone writes it that was turned by 90 degrees.
#[test]
fn a_picture_that_lies_is_turned_upright() {
    let kept = kept(&jpeg(&two_halves(64, 48), exif(6, "")));
    assert_eq!(kept.dimensions(), (48, 64));
    assert!(is_near(kept.get_pixel(24, 8), &RED));
    assert!(is_near(kept.get_pixel(24, 56), &BLUE));
}

#[test]
fn nothing_but_the_picture_is_kept() {
    const SECRET: &str = "52.5163N 13.3777E";
    let picture = two_halves(64, 48);
    let mut with_text = png(&picture);
    let text = png_chunk(b"tEXt", format!("Comment\0{SECRET}").as_bytes());
    // Behind the signature and the header.
    with_text.splice(33..33, text);
    let mut with_tail = jpeg(&picture, vec![]);
    with_tail.extend_from_slice(SECRET.as_bytes());
    let has_secret = |bytes: &[u8]| {
        let secret = SECRET.as_bytes();
        bytes.windows(secret.len()).any(|part| part == secret)
    };
    for file in [jpeg(&picture, exif(1, SECRET)), with_text, with_tail] {
        assert!(has_secret(&file));
        let kept = encoded_again(&file).unwrap();
        assert!(!has_secret(&kept));
        assert!(!kept.windows(4).any(|part| part == b"Exif"));
    }
}

#[test]
fn what_is_transparent_becomes_white() {
    let half_red = RgbaImage::from_fn(32, 32, |x, _| {
        Rgba([255, 0, 0, if x < 16 { 0 } else { 128 }])
    });
    let mut file = Vec::new();
    half_red
        .write_with_encoder(PngEncoder::new(&mut file))
        .unwrap();
    let kept = kept(&file);
    assert!(is_near(kept.get_pixel(4, 16), &Rgb([255, 255, 255])));
    assert!(is_near(kept.get_pixel(28, 16), &Rgb([255, 127, 127])));
}

#[test]
fn only_three_formats_are_read() {
    let gif = b"GIF89a\x01\0\x01\0\0\0\0;";
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>";
    for file in [&gif[..], svg, b"", b"BM", b"<!doctype html>"] {
        assert_eq!(encoded_again(file), Err(Refused::UnknownFormat));
    }
}
