//! A file decides neither how much memory nor how much time it takes.

use image::RgbImage;
use onsale_domain::poster::MAX_UPLOAD_BYTES;
use onsale_posters::{Refused, encoded_again};
use proptest::prelude::*;

use crate::files::{jpeg_of_size, png_header, webp_header};
use crate::{jpeg, png, two_halves, webp};

const RGB: u8 = 2;
const RGBA: u8 = 6;

/// None of these has a pixel: one that was decoded would be called damaged.
#[test]
fn a_picture_with_too_many_pixels_is_refused_before_any_is_decoded() {
    let small = jpeg(&two_halves(8, 8), vec![]);
    let files = [
        png_header(30_000, 30_000, 8, RGB),
        png_header(40_000_001, 1, 8, RGB),
        // 30 megapixels, of eight bytes each.
        png_header(6_000, 5_000, 16, RGBA),
        jpeg_of_size(small, 65_535, 65_535),
        webp_header(16_383, 16_383),
    ];
    for file in files {
        assert_eq!(encoded_again(&file), Err(Refused::TooManyPixels));
    }
}

#[test]
fn the_largest_picture_that_is_allowed_is_decoded() {
    let file = png_header(8_000, 5_000, 8, RGB);
    assert_eq!(encoded_again(&file), Err(Refused::Broken));
    let flat = RgbImage::from_pixel(8_000, 5_000, crate::RED);
    let kept = crate::kept(&png(&flat));
    assert_eq!(kept.dimensions(), (1_200, 750));
}

#[test]
fn a_file_of_too_many_bytes_is_refused() {
    let mut file = png(&two_halves(8, 8));
    file.resize(MAX_UPLOAD_BYTES, 0);
    assert!(encoded_again(&file).is_ok());
    file.push(0);
    assert_eq!(encoded_again(&file), Err(Refused::TooManyBytes));
}

#[test]
fn a_file_that_is_cut_off_is_refused_or_read_and_never_panics() {
    let picture = two_halves(16, 16);
    for file in [png(&picture), jpeg(&picture, vec![]), webp(&picture)] {
        for end in 0..file.len() {
            let _ = encoded_again(&file[..end]);
        }
    }
    let file = png(&picture);
    let half = &file[..file.len() / 2];
    assert_eq!(encoded_again(half), Err(Refused::Broken));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_refused_or_read_and_never_panics(
        format in 0usize..3,
        damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let picture = two_halves(16, 16);
        let mut file = [png(&picture), jpeg(&picture, vec![]), webp(&picture)][format].clone();
        for (place, byte) in damages {
            let at = place.index(file.len());
            file[at] = byte;
        }
        if let Ok(kept) = encoded_again(&file) {
            prop_assert!(image::load_from_memory(&kept).is_ok());
        }
    }
}
