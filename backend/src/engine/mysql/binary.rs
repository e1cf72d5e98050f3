//! Rows of the binary protocol, which statements with parameters bring, written as the text protocol has them.
//! Source: MySQL documentation, "Binary Protocol Resultset"; MariaDB documentation, "Result Set Packets", "Binary resultset row".
//!
//! Invariant: a row comes out byte for byte as the server's text of it would be, so that a cell looks the same with parameters and
//! without, and one decoder serves both. A test compares the two over every type of a real server. Start at [`Shapes::write_row`].

use super::types::{Column, number};
use super::wire::{Reader, WireError};
use std::io::Write;

/// How the values of a result's columns are written.
#[derive(Clone, Debug)]
pub struct Shapes {
    columns: Vec<Shape>,
    /// Room to write a value in, the same for all rows.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    number: u8,
    unsigned: bool,
    /// Digits to fill up to with zeros.
    filled: Option<usize>,
    decimals: u8,
}

impl Shapes {
    /// Of columns as the server told them.
    pub fn of(columns: &[Column]) -> Self {
        let shape = |column: &Column| Shape {
            number: column.number,
            unsigned: column.is_unsigned(),
            filled: column.is_filled().then_some(column.length as usize),
            decimals: column.decimals,
        };
        Self { columns: columns.iter().map(shape).collect(), text: Vec::new() }
    }

    /// One row in the other form, behind what `out` has.
    pub fn write_row(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(body);
        if reader.u8()? != 0 {
            return Err(WireError::Protocol("a row does not begin as one".to_owned()));
        }
        // Two bits of the map are for others.
        let nulls = reader.bytes((self.columns.len() + 9) / 8)?;
        for (at, shape) in self.columns.iter().enumerate() {
            let bit = at + 2;
            if nulls.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1) {
                out.push(0xfb);
                continue;
            }
            self.text.clear();
            match shape.write(&mut reader, &mut self.text)? {
                Some(bytes) => write_counted(bytes, out),
                None => write_counted(&self.text, out),
            }
        }
        if reader.rest().is_empty() { Ok(()) } else { Err(WireError::Protocol("a row has other columns than its description".to_owned())) }
    }
}

/// Bytes with their count before them.
pub fn write_counted(bytes: &[u8], out: &mut Vec<u8>) {
    let [b0, b1, b2, rest @ ..] = (bytes.len() as u64).to_le_bytes();
    match (b0, b1, b2) {
        (0..=250, 0, 0) if rest == [0; 5] => out.push(b0),
        (_, _, 0) if rest == [0; 5] => out.extend_from_slice(&[0xfc, b0, b1]),
        _ if rest == [0; 5] => out.extend_from_slice(&[0xfd, b0, b1, b2]),
        _ => {
            out.extend_from_slice(&[0xfe, b0, b1, b2]);
            out.extend_from_slice(&rest);
        }
    }
    out.extend_from_slice(bytes);
}

impl Shape {
    /// The value's text in `text`, or the bytes that are it already.
    fn write<'a>(self, reader: &mut Reader<'a>, text: &mut Vec<u8>) -> Result<Option<&'a [u8]>, WireError> {
        match self.number {
            number::TINY | number::SHORT | number::YEAR | number::LONG | number::INT24 | number::LONGLONG => {
                let value = self.integer(reader)?;
                put(text, format_args!("{value}"));
                self.fill(text);
            }
            number::FLOAT => {
                let value = f32::from_le_bytes(reader.array()?);
                text.extend_from_slice(self.float(f64::from(value), Some(FLOAT_DIGITS)).as_bytes());
                self.fill(text);
            }
            number::DOUBLE => {
                let value = f64::from_le_bytes(reader.array()?);
                text.extend_from_slice(self.float(value, None).as_bytes());
                self.fill(text);
            }
            number::DATE | number::NEWDATE => date(reader.counted_by_byte()?, text)?,
            number::DATETIME | number::TIMESTAMP => self.date_time(reader.counted_by_byte()?, text)?,
            number::TIME => self.time(reader.counted_by_byte()?, text)?,
            number::NULL => {}
            // Decimals, bits, JSON, geometry and all that is text or bytes.
            _ => return reader.counted().map(Some),
        }
        Ok(None)
    }

    fn integer(self, reader: &mut Reader<'_>) -> Result<i128, WireError> {
        Ok(match (self.number, self.unsigned) {
            (number::TINY, true) => u8::from_le_bytes(reader.array()?).into(),
            (number::TINY, false) => i8::from_le_bytes(reader.array()?).into(),
            (number::SHORT | number::YEAR, true) => u16::from_le_bytes(reader.array()?).into(),
            (number::SHORT | number::YEAR, false) => i16::from_le_bytes(reader.array()?).into(),
            (number::LONGLONG, true) => u64::from_le_bytes(reader.array()?).into(),
            (number::LONGLONG, false) => i64::from_le_bytes(reader.array()?).into(),
            (_, true) => u32::from_le_bytes(reader.array()?).into(),
            (_, false) => i32::from_le_bytes(reader.array()?).into(),
        })
    }

    fn fill(self, text: &mut Vec<u8>) {
        let missing = self.filled.unwrap_or_default().min(FILLED_MAX).saturating_sub(text.len());
        text.splice(0..0, std::iter::repeat_n(b'0', missing));
    }

    /// With its fixed decimals, or as the server writes a number of any size.
    fn float(self, value: f64, digits: Option<usize>) -> String {
        match usize::from(self.decimals) {
            decimals @ 0..=30 => fixed(value, decimals),
            _ => free(value, digits),
        }
    }

    fn date_time(self, body: &[u8], text: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(body);
        let day = if body.is_empty() { body } else { reader.bytes(4)? };
        date(day, text)?;
        let (clock, micros) = clock(reader.rest())?;
        let [hour, minute, second] = clock;
        put(text, format_args!(" {hour:02}:{minute:02}:{second:02}"));
        self.fraction(micros, text);
        Ok(())
    }

    fn time(self, body: &[u8], text: &mut Vec<u8>) -> Result<(), WireError> {
        let mut reader = Reader::new(body);
        let (negative, days) = if body.is_empty() { (false, 0) } else { (reader.u8()? != 0, reader.u32()?) };
        let ([hour, minute, second], micros) = clock(reader.rest())?;
        let hours = u64::from(days) * 24 + u64::from(hour);
        put(text, format_args!("{}{hours:02}:{minute:02}:{second:02}", if negative { "-" } else { "" }));
        self.fraction(micros, text);
        Ok(())
    }

    fn fraction(self, micros: u32, text: &mut Vec<u8>) {
        let digits = match usize::from(self.decimals) {
            digits @ 0..=6 => digits,
            _ if micros == 0 => 0,
            _ => 6,
        };
        if digits > 0 {
            let whole = text.len();
            put(text, format_args!(".{micros:06}"));
            text.truncate(whole + 1 + digits);
        }
    }
}

/// Columns are not wider than this where zeros fill them.
const FILLED_MAX: usize = 255;
/// `FLOAT` is written with no more digits.
const FLOAT_DIGITS: usize = 6;

/// Writing to memory does not fail.
fn put(text: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}

/// Four bytes, or none for the date that is none.
fn date(body: &[u8], text: &mut Vec<u8>) -> Result<(), WireError> {
    let mut reader = Reader::new(body);
    let (year, month, day) = if body.is_empty() { (0, 0, 0) } else { (reader.u16()?, reader.u8()?, reader.u8()?) };
    put(text, format_args!("{year:04}-{month:02}-{day:02}"));
    Ok(())
}

/// Hour, minute and second, and microseconds; what is zero at the end is not sent.
fn clock(body: &[u8]) -> Result<([u8; 3], u32), WireError> {
    let mut reader = Reader::new(body);
    let clock = if body.is_empty() { [0; 3] } else { reader.array()? };
    let micros = if body.len() > 3 { reader.u32()? } else { 0 };
    Ok((clock, micros))
}

/// A number's digits without zeros at their end, and the power of ten of the first.
struct Digits {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Digits {
    /// The fewest that name the number, and of those the nearest to it, an even one in the middle; at most `limit`.
    fn of(value: f64, limit: Option<usize>) -> Self {
        let shortest = format!("{value:e}");
        let count = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
        let behind_the_first = count.min(limit.unwrap_or(count)).saturating_sub(1);
        let nearest = format!("{value:.behind_the_first$e}");
        let names_it = |text: &str| text.parse().is_ok_and(|parsed: f64| parsed.to_bits() == value.to_bits());
        let written = if limit.is_some() || names_it(&nearest) { nearest } else { shortest };
        let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let significant = match digits.trim_end_matches('0') {
            "" => "0",
            significant => significant,
        };
        Self { negative: mantissa.starts_with('-'), digits: significant.to_owned(), exponent: exponent.parse().unwrap_or_default() }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// How many stand behind the point.
    fn decimals(&self) -> usize {
        let places = i64::try_from(self.digits.len()).unwrap_or_default() - 1 - i64::from(self.exponent);
        if self.digits == "0" { 0 } else { usize::try_from(places).unwrap_or_default() }
    }

    /// Without an exponent.
    fn plain(&self) -> String {
        let (sign, digits) = (self.sign(), &self.digits);
        let Ok(exponent) = usize::try_from(self.exponent) else {
            let zeros = usize::try_from(-1 - self.exponent).unwrap_or_default();
            return format!("{sign}0.{}{digits}", "0".repeat(zeros));
        };
        let places = exponent + 1;
        match digits.split_at_checked(places) {
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{digits:0<places$}"),
        }
    }

    fn scientific(&self) -> String {
        let (sign, exponent) = (self.sign(), self.exponent);
        match self.digits.split_at_checked(1) {
            Some((first, rest)) if !rest.is_empty() => format!("{sign}{first}.{rest}e{exponent}"),
            _ => format!("{sign}{}e{exponent}", self.digits),
        }
    }
}

/// With that many decimals: the number's own digits where they are no more, else rounded to them.
fn fixed(value: f64, decimals: usize) -> String {
    let own = Digits::of(value, None);
    let has = own.decimals();
    if has > decimals {
        return format!("{value:.decimals$}");
    }
    let point = if has == 0 && decimals > 0 { "." } else { "" };
    format!("{}{point}{}", own.plain(), "0".repeat(decimals - has))
}

/// The fewest digits that name the number, at most `limit`; with an exponent where it would begin more than fifteen places from the
/// point, unless digits stand on both sides of that.
fn free(value: f64, limit: Option<usize>) -> String {
    let own = Digits::of(value, limit);
    match own.exponent {
        -15..15 => own.plain(),
        15.. if own.decimals() > 0 => own.plain(),
        _ => own.scientific(),
    }
}

#[cfg(test)]
mod tests;
