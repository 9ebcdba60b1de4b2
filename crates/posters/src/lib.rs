//! Posters: a picture that a stranger sent becomes a JPEG that we wrote.
//!
//! Whatever a file carries besides its picture ends here: places where a photograph was
//! taken, previews, profiles, bytes behind the end. A file decides neither how much memory
//! nor how much time it takes: its size is known, and refused, before a pixel is decoded.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbaImage};
use onsale_domain::poster::{MAX_PIXELS, MAX_UPLOAD_BYTES, kept_size};

/// Above it files grow faster than pictures look better.
const QUALITY: u8 = 82;
/// What the pixels of one picture may take: four bytes each, at the most of them.
const MAX_DECODED_BYTES: u64 = 4 * MAX_PIXELS;
/// What a decoder may take for itself besides.
const MAX_WORKING_BYTES: u64 = 256 << 20;
const WHITE: u32 = 255;

/// Why a file is no poster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the file has more than {} MiB", MAX_UPLOAD_BYTES >> 20)]
    TooManyBytes,
    #[error("this is no JPEG, PNG or WebP picture")]
    UnknownFormat,
    #[error("the picture has more than {} megapixels", MAX_PIXELS / 1_000_000)]
    TooManyPixels,
    #[error("the picture is damaged, or of a kind that is not supported")]
    Broken,
}

/// The picture of this file as we keep it: upright, at most as large as posters are, on
/// white, and nothing but the picture. The same file always gives the same bytes.
pub fn encoded_again(file: &[u8]) -> Result<Vec<u8>, Refused> {
    if file.len() > MAX_UPLOAD_BYTES {
        return Err(Refused::TooManyBytes);
    }
    let picture = on_white(decoded(file)?);
    let (width, height) = kept_size(picture.width(), picture.height());
    let picture = match (picture.width(), picture.height()) == (width, height) {
        true => picture.into_rgb8(),
        false => picture.thumbnail_exact(width, height).into_rgb8(),
    };
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, QUALITY);
    picture.write_with_encoder(encoder).map_err(refused)?;
    Ok(jpeg)
}

/// The bytes say what they are; what the sender called them does not count.
fn decoded(file: &[u8]) -> Result<DynamicImage, Refused> {
    let format = image::guess_format(file).map_err(|_| Refused::UnknownFormat)?;
    if !matches!(
        format,
        ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP
    ) {
        return Err(Refused::UnknownFormat);
    }
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_WORKING_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS || decoder.total_bytes() > MAX_DECODED_BYTES {
        return Err(Refused::TooManyPixels);
    }
    // A telephone that is held upright writes a picture that lies, and a note to turn it.
    let orientation = decoder.orientation().map_err(refused)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(refused)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// JPEG has no transparency. Mixed before it is made smaller: colours that nobody sees
/// would otherwise shine through at the borders.
fn on_white(picture: DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return picture;
    }
    let mut picture: RgbaImage = picture.into_rgba8();
    for pixel in picture.pixels_mut() {
        let alpha = u32::from(pixel.0[3]);
        for value in &mut pixel.0[..3] {
            let mixed = (u32::from(*value) * alpha + WHITE * (WHITE - alpha)) / WHITE;
            *value = mixed as u8;
        }
        pixel.0[3] = WHITE as u8;
    }
    picture.into()
}

fn refused(error: ImageError) -> Refused {
    match error {
        ImageError::Limits(_) => Refused::TooManyPixels,
        _ => Refused::Broken,
    }
}
