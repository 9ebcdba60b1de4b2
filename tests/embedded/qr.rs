//! Reads QR symbols as a scanner does, with a decoder that shares no code with what
//! draws them.

/// What the one symbol in an SVG says. Its path is a list of bars: `Mx yhNv1h-Nz`.
pub(crate) fn read_svg(svg: &str) -> String {
    const SCALE: usize = 4;
    let side: usize = between(svg, "viewBox=\"0 0 ", " ").parse().unwrap();
    let width = side * SCALE;
    let mut pixels = vec![255u8; width * width];
    let path = between(svg, "<path d=\"", "\"");
    for bar in path.split('z').filter(|bar| !bar.is_empty()) {
        let (x, y) = between(bar, "M", "h").split_once(' ').unwrap();
        let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
        let length: usize = between(bar, "h", "v").parse().unwrap();
        for row in y * SCALE..(y + 1) * SCALE {
            pixels[row * width..][x * SCALE..(x + length) * SCALE].fill(0);
        }
    }
    let mut picture =
        rqrr::PreparedImage::prepare_from_greyscale(width, width, |x, y| pixels[y * width + x]);
    let symbols = picture.detect_grids();
    assert_eq!(symbols.len(), 1);
    symbols[0].decode().unwrap().1
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap().1;
    rest.split_once(to).unwrap().0
}
