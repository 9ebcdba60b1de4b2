//! Files, and parts of them, that no program of good will writes.

/// An EXIF block that says how the picture lies, and who made it.
pub fn exif(orientation: u8, maker: &str) -> Vec<u8> {
    let mut block = b"MM\0\x2a\0\0\0\x08".to_vec();
    let maker_len = maker.len() as u32 + 1;
    let text_at = 8 + 2 + 2 * 12 + 4;
    block.extend(2u16.to_be_bytes());
    // 0x010f, the maker: text.
    block.extend([0x01, 0x0f, 0, 2]);
    block.extend(maker_len.to_be_bytes());
    block.extend(u32::to_be_bytes(text_at));
    // 0x0112, the orientation: one short.
    block.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
    block.extend([0; 4]);
    block.extend(maker.as_bytes());
    block.push(0);
    block
}

pub fn png_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut chunk = (data.len() as u32).to_be_bytes().to_vec();
    chunk.extend(kind);
    chunk.extend(data);
    let sum = crc(&chunk[4..]);
    chunk.extend(sum.to_be_bytes());
    chunk
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            crc ^= 0xedb8_8320 * carry;
        }
    }
    !crc
}

/// A PNG that announces this many pixels and has none.
pub fn png_header(width: u32, height: u32, bits: u8, colour: u8) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = width.to_be_bytes().to_vec();
    header.extend(height.to_be_bytes());
    header.extend([bits, colour, 0, 0, 0]);
    file.extend(png_chunk(b"IHDR", &header));
    file.extend(png_chunk(b"IDAT", &[0x78, 0x9c]));
    file.extend(png_chunk(b"IEND", &[]));
    file
}

/// Announces another size in a JPEG.
pub fn jpeg_of_size(mut file: Vec<u8>, width: u16, height: u16) -> Vec<u8> {
    let frame = file.windows(2).position(|part| part == [0xff, 0xc0]);
    let size = frame.expect("it has a frame") + 5;
    file[size..size + 2].copy_from_slice(&height.to_be_bytes());
    file[size + 2..size + 4].copy_from_slice(&width.to_be_bytes());
    file
}

/// A lossless WebP that announces this many pixels and has none.
pub fn webp_header(width: u32, height: u32) -> Vec<u8> {
    let size = (width - 1) | (height - 1) << 14;
    let mut stream = vec![0x2f];
    stream.extend(size.to_le_bytes());
    stream.push(0);
    let mut file = b"RIFF".to_vec();
    file.extend((stream.len() as u32 + 12).to_le_bytes());
    file.extend(b"WEBPVP8L");
    file.extend((stream.len() as u32).to_le_bytes());
    file.extend(stream);
    file
}
