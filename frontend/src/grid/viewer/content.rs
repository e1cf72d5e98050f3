//! What a value is, for reading it whole: text, JSON, bytes, a picture.
//!
//! Invariant: no `web_sys`; nothing is changed in a value but the white space between the parts of JSON, and that only on request.

/// A picture's media type, by its first bytes.
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    const SIGNS: &[(&[u8], &str)] =
        &[(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif")];
    SIGNS.iter().find(|(sign, _)| bytes.starts_with(sign)).map(|(_, media_type)| *media_type)
}

/// The text is a JSON object or array.
pub fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    (text.starts_with('{') || text.starts_with('[')) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// JSON laid out on lines, every token as it was written: numbers keep their digits, strings their escapes, keys their order.
pub fn laid_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = json.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                if let Some(close) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Bytes of a line of hexadecimal, offset and ASCII beside them, where a line has room for so many characters.
pub fn bytes_of_line(characters: usize) -> usize {
    let taken = |bytes: usize| 9 + bytes.div_ceil(8) + 3 * bytes + 1 + bytes;
    [16, 8].into_iter().find(|bytes| taken(*bytes) <= characters).unwrap_or(4)
}

/// Bytes as offset, hexadecimal and ASCII, so many to a line.
pub fn hex_lines(bytes: &[u8], of_line: usize) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 6);
    for (n, line) in bytes.chunks(of_line.max(1)).enumerate() {
        let _ = write!(out, "{:08x} ", n * of_line);
        for at in 0..of_line {
            if at % 8 == 0 {
                out.push(' ');
            }
            match line.get(at) {
                Some(byte) => {
                    let _ = write!(out, "{byte:02x} ");
                }
                None => out.push_str("   "),
            }
        }
        out.push(' ');
        out.extend(line.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '·' }));
        out.push('\n');
    }
    out
}

/// The beginning of a text, at most so many bytes, cut between characters.
pub fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

/// A length in words.
pub fn bytes_text(bytes: usize) -> String {
    #[allow(clippy::cast_precision_loss)]
    let of = |unit: usize| bytes as f64 / unit as f64;
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", of(1024)),
        _ => format!("{:.1} MiB", of(1_048_576)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_every_token_as_written() {
        let json = r#"{"b":1.0e+2,"a":[9007199254740993, "x,\"{y}\\"],"empty":{ },"none":[]}"#;
        let expected =
            "{\n  \"b\": 1.0e+2,\n  \"a\": [\n    9007199254740993,\n    \"x,\\\"{y}\\\\\"\n  ],\n  \"empty\": {},\n  \"none\": []\n}";
        assert_eq!(laid_out(json), expected);
        assert!(is_json(json));
        assert!(!is_json("{broken"));
        assert!(!is_json("42"));
    }

    #[test]
    fn bytes_are_laid_out_in_lines_that_fit() {
        assert_eq!([100, 76, 75, 43, 42, 10].map(bytes_of_line), [16, 16, 8, 8, 4, 4]);
        assert_eq!(hex_lines(b"Sheaf binds", 8).lines().next(), Some("00000000  53 68 65 61 66 20 62 69  Sheaf bi"));
        assert!(hex_lines(b"Sheaf binds", 8).lines().all(|line| line.chars().count() <= 43));
        let lines = hex_lines(b"Sheaf binds its arrows\x00", 16);
        let mut lines = lines.lines();
        assert_eq!(lines.next(), Some("00000000  53 68 65 61 66 20 62 69  6e 64 73 20 69 74 73 20  Sheaf binds its "));
        assert_eq!(lines.next(), Some("00000010  61 72 72 6f 77 73 00                              arrows·"));
        assert_eq!(lines.next(), None);
    }

    #[test]
    fn pictures_are_known_by_content() {
        assert_eq!(picture_type(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(picture_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(picture_type(b"<svg onload=...>"), None);
    }

    #[test]
    fn a_beginning_ends_between_characters() {
        assert_eq!(beginning("aäb", 2), "a");
        assert_eq!(beginning("aäb", 3), "aä");
        assert_eq!(beginning("ab", 9), "ab");
        assert_eq!(bytes_text(1536), "1.5 KiB");
    }
}
