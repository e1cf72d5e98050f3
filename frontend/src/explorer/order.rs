//! The order of names as people read them: `t2` before `t10`, capitals among the others. Pure.

use std::cmp::Ordering;

/// Which of two names comes first. Names that read the same keep the order of their characters, so that no two are equal but the same.
pub fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    loop {
        let ((first, after), (second, behind)) = match (left.split_first(), right.split_first()) {
            (Some(one), Some(other)) => (one, other),
            (None, None) => return one.cmp(other),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
        };
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = number(left);
            let (than, others) = self::number(right);
            (left, right) = (rest, others);
            number.len().cmp(&than.len()).then_with(|| number.cmp(than))
        } else {
            (left, right) = (after, behind);
            first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase())
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The number that a text begins with, without zeros before it, and what is behind it.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    (digits.get(zeros..).unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let mut names = [
            "t10",
            "t2",
            "T1",
            "t",
            "t1",
            "t01",
            "t2b",
            "t2a",
            "a_9_b",
            "a_10_b",
            "a_9_a",
            "zebra",
            "Zoo",
            "é",
            "t100000000000000000000",
            "t99999999999999999999",
        ];
        names.sort_by(|one, other| natural(one, other));
        let expected = [
            "a_9_a",
            "a_9_b",
            "a_10_b",
            "t",
            "T1",
            "t01",
            "t1",
            "t2",
            "t2a",
            "t2b",
            "t10",
            "t99999999999999999999",
            "t100000000000000000000",
            "zebra",
            "Zoo",
            "é",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn only_the_same_name_is_equal() {
        for (one, other) in [("t1", "t01"), ("A", "a"), ("0", "00"), ("", "a")] {
            assert_ne!(natural(one, other), Ordering::Equal);
            assert_eq!(natural(one, other), natural(other, one).reverse());
        }
        assert_eq!(natural("t1", "t1"), Ordering::Equal);
    }
}
