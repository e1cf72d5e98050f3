//! GEOMETRY as well-known text, from well-known binary.
//!
//! Invariant: bytes that are no geometry give `None`; nesting is bounded.

use crate::format::float;

const DEPTH_MAX: usize = 32;
const NAMES: [&str; 8] = ["", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION"];

/// The text of a geometry.
pub fn text(bytes: &[u8]) -> Option<String> {
    let mut reader = Reader { rest: bytes, little: true };
    let mut out = String::new();
    geometry(&mut reader, &mut out, Place::Top, DEPTH_MAX)?;
    Some(out)
}

struct Reader<'a> {
    rest: &'a [u8],
    little: bool,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take()?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn double(&mut self) -> Option<f64> {
        let bytes = self.take()?;
        Some(if self.little { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) })
    }
}

/// Where a geometry stands: that decides how much of it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// By itself, or in a collection: with its name.
    Top,
    /// In a `MULTI…`.
    Part,
    /// A point in a MULTIPOINT: its numbers only.
    Bare,
}

fn geometry(reader: &mut Reader<'_>, out: &mut String, place: Place, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let [order] = reader.take()?;
    reader.little = order == 1;
    let code = reader.word()?;
    let (kind, dimension) = (code % 1000, code / 1000);
    let (mark, width) = match dimension {
        0 => ("", 2),
        1 => (" Z", 3),
        2 => (" M", 3),
        3 => (" ZM", 4),
        _ => return None,
    };
    if place == Place::Top {
        out.push_str(NAMES.get(usize::try_from(kind).ok()?).filter(|name| !name.is_empty())?);
        out.push_str(mark);
        out.push(' ');
    }
    match kind {
        1 => point(reader, out, width, if place == Place::Bare { ["", ""] } else { ["(", ")"] }),
        2 => list(reader, out, |reader, out| coordinates(reader, out, width)),
        3 => list(reader, out, |reader, out| list(reader, out, |reader, out| coordinates(reader, out, width))),
        _ => list(reader, out, |reader, out| {
            let little = reader.little;
            let place = match kind {
                7 => Place::Top,
                4 => Place::Bare,
                _ => Place::Part,
            };
            geometry(reader, out, place, depth)?;
            reader.little = little;
            Some(())
        }),
    }
}

fn point(reader: &mut Reader<'_>, out: &mut String, width: usize, around: [&str; 2]) -> Option<()> {
    let start = out.len();
    out.push_str(around[0]);
    let before = reader.rest;
    coordinates(reader, out, width)?;
    out.push_str(around[1]);
    let mut again = Reader { rest: before, little: reader.little };
    if (0..width).all(|_| again.double().is_some_and(f64::is_nan)) {
        out.truncate(start);
        out.push_str("EMPTY");
    }
    Some(())
}

fn coordinates(reader: &mut Reader<'_>, out: &mut String, width: usize) -> Option<()> {
    for at in 0..width {
        if at > 0 {
            out.push(' ');
        }
        let text = float::duckdb_f64(reader.double()?);
        out.push_str(text.strip_suffix(".0").unwrap_or(&text));
    }
    Some(())
}

fn list(reader: &mut Reader<'_>, out: &mut String, mut each: impl FnMut(&mut Reader<'_>, &mut String) -> Option<()>) -> Option<()> {
    let count = reader.word()?;
    if count == 0 {
        out.push_str("EMPTY");
        return Some(());
    }
    for at in 0..count {
        out.push_str(if at == 0 { "(" } else { ", " });
        each(reader, out)?;
    }
    out.push(')');
    Some(())
}
