//! A row of an answer about the catalog, read from left to right.

/// Values that are still to be read.
pub struct Row(std::vec::IntoIter<Option<String>>);

impl Row {
    /// From its first value on.
    pub fn new(values: Vec<Option<String>>) -> Self {
        Self(values.into_iter())
    }

    /// The next value; `None` where it is NULL, and behind the last.
    pub fn text(&mut self) -> Option<String> {
        self.0.next().flatten()
    }

    /// The next value as a number; `None` where it is none.
    pub fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.text()?.parse().ok()
    }
}
