//! Small pictures: valid PNG files of four colours, mirrored left to right.

use super::dice::Dice;

/// Pixels of a side.
const SIDE: usize = 48;
/// Cells of a side; a cell is a square of equal pixels.
const CELLS: usize = 8;

/// A picture; the same dice draw the same one.
pub fn png(dice: &mut Dice) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let side = u32::try_from(SIDE).unwrap_or(0).to_be_bytes();
    // Width, height, 2 bits a pixel, palette, no interlace.
    chunk(&mut file, *b"IHDR", &[&side[..], &side[..], &[2, 3, 0, 0, 0]].concat());
    chunk(&mut file, *b"PLTE", &palette(dice));
    chunk(&mut file, *b"IDAT", &zlib_stored(&pixels(dice)));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// A light ground and three colours of one mood.
fn palette(dice: &mut Dice) -> Vec<u8> {
    let mut colours = vec![0xf4, 0xf1, 0xea];
    let base = [dice.between(40, 200), dice.between(40, 200), dice.between(40, 200)];
    for shade in [0, 30, -35] {
        colours.extend(base.iter().map(|part| u8::try_from((part + shade).clamp(0, 255)).unwrap_or(0)));
    }
    colours
}

/// The scan lines: a filter byte of 0, then four pixels a byte.
fn pixels(dice: &mut Dice) -> Vec<u8> {
    let mut lines = Vec::with_capacity(SIDE * (1 + SIDE / 4));
    for _ in 0..CELLS {
        let half: Vec<u8> = (0..CELLS / 2).map(|_| u8::try_from(dice.between(0, 3)).unwrap_or(0)).collect();
        let cells: Vec<u8> = half.iter().chain(half.iter().rev()).copied().collect();
        let wide: Vec<u8> = cells.iter().flat_map(|colour| std::iter::repeat_n(*colour, SIDE / CELLS)).collect();
        let packed: Vec<u8> = wide.chunks(4).map(|four| four.iter().fold(0, |byte, colour| (byte << 2) | colour)).collect();
        for _ in 0..SIDE / CELLS {
            lines.push(0);
            lines.extend_from_slice(&packed);
        }
    }
    lines
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], body: &[u8]) {
    file.extend(u32::try_from(body.len()).unwrap_or(0).to_be_bytes());
    let checked = [&kind[..], body].concat();
    file.extend_from_slice(&checked);
    file.extend(crc32(&checked).to_be_bytes());
}

/// A zlib stream of one stored block (RFC 1950, 1951): up to 65,535 bytes, not compressed.
fn zlib_stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend_from_slice(bytes);
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    (b << 16) | a
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn a_picture_is_a_png_of_the_right_length() {
        let file = png(&mut Dice::new(7));
        assert!(file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x30\0\0\0\x30\x02\x03"));
        assert!(file.ends_with(b"\0\0\0\0IEND\xaeB`\x82"));
        assert_eq!(file.len(), 8 + 25 + 24 + 12 + 2 + 5 + SIDE * (1 + SIDE / 4) + 4 + 12);
        assert_eq!(file, png(&mut Dice::new(7)));
    }
}
