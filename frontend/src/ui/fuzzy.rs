//! A small fuzzy match for lists of a few thousand names. Pure.

/// How well `pattern` matches `name`: none when it does not; more is better. Letters in order, starts of words count most.
pub fn score(pattern: &str, name: &str) -> Option<i32> {
    let mut total = 0;
    let mut last: Option<usize> = None;
    let name: Vec<char> = name.chars().collect();
    let mut at = 0;
    for wanted in pattern.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase) {
        let found = best_place(&name, at, wanted, last)?;
        let starts = starts_word(&name, found);
        let follows = last.is_some_and(|last| found == last + 1);
        total += if follows { 8 } else { 0 } + if starts { 7 } else { 0 } + 1;
        total -= i32::try_from(found.saturating_sub(at)).unwrap_or(0).min(4);
        last = Some(found);
        at = found + 1;
    }
    Some(total * 4 - i32::try_from(name.len()).unwrap_or(i32::MAX).min(120) / 4)
}

/// Right after the last match if it goes on there, else a word's start if there is one, else the next place.
fn best_place(name: &[char], from: usize, wanted: char, last: Option<usize>) -> Option<usize> {
    let is = |at: &usize| name.get(*at).is_some_and(|c| c.to_lowercase().eq([wanted]));
    if let Some(next) = last.map(|last| last + 1).filter(is) {
        return Some(next);
    }
    let mut places = (from..name.len()).filter(is);
    let first = places.next()?;
    if starts_word(name, first) {
        return Some(first);
    }
    Some(places.find(|at| starts_word(name, *at)).unwrap_or(first))
}

fn starts_word(name: &[char], at: usize) -> bool {
    let Some(here) = name.get(at) else { return false };
    match at.checked_sub(1).and_then(|before| name.get(before)) {
        None => true,
        Some(before) => !before.is_alphanumeric() || (before.is_lowercase() && here.is_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(pattern: &str, names: &[&'a str]) -> Option<&'a str> {
        names.iter().filter_map(|name| Some((score(pattern, name)?, *name))).max_by_key(|(score, _)| *score).map(|(_, name)| name)
    }

    #[test]
    fn starts_of_words_win() {
        assert_eq!(best("oi", &["coins", "order_items", "voices"]), Some("order_items"));
        assert_eq!(best("orders", &["order_items_s", "orders", "preorders"]), Some("orders"));
        assert_eq!(best("ncon", &["New connection…", "New console", "Next console"]), Some("New console"));
        assert_eq!(score("xyz", "orders"), None);
        assert!(score("", "orders").is_some());
    }
}
