//! Bytes of an answer, cut into lines. Pure.

/// Cuts a stream of bytes into lines, wherever its chunks end.
#[derive(Default)]
pub struct Lines {
    rest: Vec<u8>,
}

/// Longest line that is waited for: a status with thousands of columns stays far below.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Lines {
    /// The lines that `chunk` completes, without their ends; empty ones are left out.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for &byte in chunk {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.rest);
                if !line.is_empty() {
                    lines.push(String::from_utf8_lossy(&line).into_owned());
                }
            } else if self.rest.len() < LINE_BYTES_MAX {
                self.rest.push(byte);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_wherever_chunks_end() {
        let mut lines = Lines::default();
        assert!(lines.push(b"{\"a\":").is_empty());
        assert_eq!(lines.push(b"1}\n\n{\"b\""), ["{\"a\":1}"]);
        assert_eq!(lines.push(":\"é\"}\nx".as_bytes()), ["{\"b\":\"é\"}"]);
    }

    #[test]
    fn a_character_may_be_cut_by_a_chunk() {
        let mut lines = Lines::default();
        assert!(lines.push(&[0xC3]).is_empty());
        assert_eq!(lines.push(&[0xA9, b'\n']), ["é"]);
    }
}
