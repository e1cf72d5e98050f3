//! Counting what the test runners say at their ends, so that one honest line can close the whole.

use std::fmt::{self, Display};
use std::ops::AddAssign;

/// How many tests ended how.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Ended well.
    pub passed: u32,
    /// Did not.
    pub failed: u32,
    /// Were not run.
    pub skipped: u32,
}

impl Tally {
    /// What one line of a runner's output says: cargo test's `test result:` lines and Playwright's closing counts.
    pub fn of_line(line: &str) -> Self {
        let line = line.trim();
        match line.strip_prefix("test result: ") {
            Some(result) => Self::of_cargo(result),
            None => Self::of_playwright(line),
        }
    }

    fn of_cargo(result: &str) -> Self {
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        counts.split("; ").fold(Self::default(), |mut sum, part| {
            sum += Self::of_count(part);
            sum
        })
    }

    /// `12 passed (3.4s)`, `1 failed`, `2 skipped`, `1 flaky` (which passed in the end).
    fn of_playwright(line: &str) -> Self {
        let (count, duration) = line.split_once(" (").unwrap_or((line, ""));
        if duration.is_empty() || duration.ends_with(')') { Self::of_count(count) } else { Self::default() }
    }

    fn of_count(text: &str) -> Self {
        let Some((number, word)) = text.split_once(' ') else { return Self::default() };
        let Ok(number) = number.parse() else { return Self::default() };
        match word {
            "passed" | "flaky" => Self { passed: number, ..Self::default() },
            "failed" | "interrupted" => Self { failed: number, ..Self::default() },
            "ignored" | "skipped" | "did not run" => Self { skipped: number, ..Self::default() },
            _ => Self::default(),
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 { write!(f, ", {} skipped", self.skipped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn cargo_tests_closing_line_is_counted() {
        let line = "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.02s";
        assert_eq!(Tally::of_line(line), Tally { passed: 12, failed: 2, skipped: 1 });
    }

    #[test]
    fn playwrights_closing_lines_are_counted() {
        assert_eq!(Tally::of_line("  12 passed (3.4s)"), Tally { passed: 12, ..Tally::default() });
        assert_eq!(Tally::of_line("  1 failed"), Tally { failed: 1, ..Tally::default() });
        assert_eq!(Tally::of_line("  2 did not run"), Tally { skipped: 2, ..Tally::default() });
    }

    #[test]
    fn other_lines_count_nothing() {
        for line in ["", "test a::b ... ok", "  1) journey.spec.ts › it runs", "running 3 tests", "12 passed away (in a text"] {
            assert_eq!(Tally::of_line(line), Tally::default(), "{line}");
        }
    }
}
