//! Cells as tab-separated text, as spreadsheets take it from the clipboard.
//!
//! Invariant: values are exact. NULL is an empty field. A field is quoted only where it would break the table (a tab, a line
//! break, or a leading quote); a single cell is its text alone (dbx and Azure Data Studio users paste it into text fields).

/// Collects rows of cells.
#[derive(Debug, Default)]
pub struct Tsv {
    text: String,
    cells: usize,
    rows: usize,
    in_row: bool,
    quoted_only: Option<String>,
}

impl Tsv {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more cell in the current row; `None` for NULL.
    pub fn cell(&mut self, value: Option<&str>) {
        if self.in_row {
            self.text.push('\t');
        } else if self.rows > 0 {
            self.text.push('\n');
        }
        self.in_row = true;
        self.cells += 1;
        let value = value.unwrap_or_default();
        if needs_quotes(value) {
            self.quoted_only = (self.cells == 1).then(|| value.to_owned());
            self.text.push('"');
            self.text.push_str(&value.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(value);
        }
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.rows += 1;
        self.in_row = false;
    }

    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The text for the clipboard.
    pub fn finish(self) -> String {
        match self.quoted_only {
            Some(single) if self.cells == 1 => single,
            _ => self.text,
        }
    }
}

fn needs_quotes(value: &str) -> bool {
    value.starts_with('"') || value.contains(['\t', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tsv(rows: &[&[Option<&str>]]) -> String {
        let mut out = Tsv::new();
        for row in rows {
            for cell in *row {
                out.cell(*cell);
            }
            out.end_row();
        }
        out.finish()
    }

    #[test]
    fn rows_are_lines_and_null_is_empty() {
        assert_eq!(tsv(&[&[Some("1"), None, Some("x")], &[Some("2"), Some(""), Some("y")]]), "1\t\tx\n2\t\ty");
    }

    #[test]
    fn a_field_that_would_break_the_table_is_quoted() {
        assert_eq!(tsv(&[&[Some("a\tb"), Some("say \"x\"\nto"), Some("in \"mid\"")]]), "\"a\tb\"\t\"say \"\"x\"\"\nto\"\tin \"mid\"");
        assert_eq!(tsv(&[&[Some("\"lead"), Some("1")]]), "\"\"\"lead\"\t1");
    }

    #[test]
    fn x16_a_single_cell_is_its_text_alone() {
        assert_eq!(tsv(&[&[Some("a\"b")]]), "a\"b");
        assert_eq!(tsv(&[&[Some("a\tb\nc")]]), "a\tb\nc");
        assert_eq!(tsv(&[&[None]]), "");
    }
}
