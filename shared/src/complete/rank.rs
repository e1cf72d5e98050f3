//! How well a name fits what was typed.
//!
//! Invariant: the order is total and the same for the same input. Every name gets a cheap score; only the best [`RANKED_MAX`] get nucleo's,
//! which is 20 times dearer and ranks `customer_order` over `CustomerDaily` for `custord`. Start at [`rank`].

use super::sources::Offers;
use super::{Effort, LIST_MAX, Suggestion};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cell::RefCell;

/// Suggestions that are scored well.
pub const RANKED_MAX: usize = 256;

/// Bytes typed up to which [`cheap_score`] puts each name that starts with them before each that does not.
pub(super) const PREFIX_WINS_MAX: usize = 12;

/// More than any score: what is the system's own, or may not be used, comes after all else.
const SYSTEM_LAST: i32 = 100_000;

/// The cheap score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scored(pub i32);

thread_local! {
    /// It has 130 kB of scratch memory: made once.
    static MATCHER: RefCell<Matcher> = RefCell::new(Matcher::new(Config::DEFAULT));
}

/// Names compare in this form. Characters stay in number, so that places match those of the name itself.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect() }
}

/// A bit for each letter and digit; other characters share the rest.
pub(super) fn mask(folded: &str) -> u64 {
    folded.bytes().fold(0, |mask, byte| {
        let bit = match byte {
            b'a'..=b'z' => byte - b'a',
            b'0'..=b'9' => 26 + byte - b'0',
            other => 36 + other % 28,
        };
        mask | 1 << bit
    })
}

/// Are the typed bytes in the name, in their order, and how well: runs and word starts count, a late start costs. Both folded.
pub(super) fn cheap_score(typed: &[u8], name: &[u8]) -> Option<i32> {
    if typed.is_empty() {
        return Some(0);
    }
    let length = i32::try_from(name.len()).unwrap_or(i32::MAX / 2).min(200);
    if name.starts_with(typed) {
        return Some(1000 + 200 * i32::from(name.len() == typed.len()) - length);
    }
    let mut rest = typed.iter();
    let mut wanted = *rest.next()?;
    let (mut score, mut run, mut before) = (0, 0, b'_');
    for &byte in name {
        if byte == wanted {
            run += 1;
            score += 8 + 4 * run + if before.is_ascii_alphanumeric() { 0 } else { 12 };
            match rest.next() {
                Some(&next) => wanted = next,
                None => return Some(score - length),
            }
        } else {
            run = 0;
        }
        before = byte;
    }
    None
}

/// The list of what the sources offered.
pub(super) fn rank(offers: Offers<'_>) -> (Vec<Suggestion>, Effort) {
    let typed = fold(&offers.context.typed);
    let mut effort = offers.effort;
    let mut cheap: Vec<(i32, usize)> = Vec::with_capacity(offers.items.len());
    for (at, offer) in offers.items.iter().enumerate() {
        if let Some(score) = cheap_score(typed.as_bytes(), fold(&offer.label).as_bytes()) {
            cheap.push((score + offer.weight - if offer.remote { SYSTEM_LAST } else { 0 }, at));
        }
    }
    let order = |a: &(i32, usize), b: &(i32, usize)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if cheap.len() > RANKED_MAX {
        cheap.select_nth_unstable_by(RANKED_MAX, order);
        cheap.truncate(RANKED_MAX);
    }
    effort.ranked = cheap.len();
    let mut ranked: Vec<(i32, usize, usize, usize)> = Vec::with_capacity(cheap.len());
    with_needle(&typed, |score| {
        for &(_, at) in &cheap {
            let Some(offer) = offers.items.get(at) else { continue };
            if let Some(fit) = score(&offer.label) {
                ranked.push((fit + offer.weight - if offer.remote { SYSTEM_LAST } else { 0 }, offer.order, offer.label.len(), at));
            }
        }
    });
    // With nothing typed the sources' own order holds; else the shorter name is the closer one.
    let by_length = !typed.is_empty();
    ranked.sort_unstable_by(|a, b| {
        let length = if by_length { a.2.cmp(&b.2) } else { std::cmp::Ordering::Equal };
        b.0.cmp(&a.0).then(length).then(a.1.cmp(&b.1)).then(a.3.cmp(&b.3))
    });
    ranked.truncate(LIST_MAX);
    let mut items: Vec<Suggestion> = Vec::with_capacity(ranked.len());
    for (.., at) in ranked {
        let Some(offer) = offers.items.get(at) else { continue };
        items.push(offers.finish(offer, matched(&typed, &offer.label)));
    }
    (items, effort)
}

/// The best names with their matched places.
pub(super) fn rank_names<T: Copy>(typed: &str, names: Vec<(String, Scored, T)>, limit: usize) -> Vec<(T, Vec<u32>)> {
    let mut ranked: Vec<(i32, usize, usize)> = Vec::with_capacity(names.len());
    with_needle(typed, |score| {
        for (at, (name, cheap, _)) in names.iter().enumerate() {
            // What is remote was marked down in the cheap score below what its match alone would give.
            let penalty = (cheap_score(typed.as_bytes(), fold(name).as_bytes()).unwrap_or(0) - cheap.0).clamp(0, 100);
            if let Some(fit) = score(name) {
                ranked.push((fit - penalty, if typed.is_empty() { 0 } else { name.len() }, at));
            }
        }
    });
    ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let best = ranked.into_iter().take(limit).filter_map(|(.., at)| names.get(at));
    best.map(|(name, _, target)| (*target, matched(typed, name))).collect()
}

/// The names of any list that fit what was typed, best first: their places in the list, and those of the matched characters in each.
/// White space counts where it stands in the name as it was typed; else it is passed over.
pub fn pick<'a>(typed: &str, names: impl Iterator<Item = &'a str> + Clone, limit: usize) -> Vec<(usize, Vec<u32>)> {
    let typed = fold(typed.trim());
    if typed.is_empty() {
        return (0..names.count().min(limit)).map(|at| (at, Vec::new())).collect();
    }
    let found = pick_folded(&typed, names.clone(), limit);
    if !found.is_empty() || !typed.contains(char::is_whitespace) {
        return found;
    }
    pick_folded(&typed.split_whitespace().collect::<String>(), names, limit)
}

fn pick_folded<'a>(typed: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<(usize, Vec<u32>)> {
    let asked = mask(typed);
    let scored = names.enumerate().filter_map(|(at, name)| {
        let folded = fold(name);
        (mask(&folded) & asked == asked).then(|| cheap_score(typed.as_bytes(), folded.as_bytes()).map(|score| (name, Scored(score), at)))?
    });
    let mut best: Vec<(&str, Scored, usize)> = scored.collect();
    best.sort_by_key(|(_, score, _)| std::cmp::Reverse(*score));
    best.truncate(limit.max(RANKED_MAX));
    rank_names(typed, best.into_iter().map(|(name, score, at)| (name.to_owned(), score, at)).collect(), limit)
}

/// Scores many names against one typed text.
fn with_needle(typed: &str, each: impl FnOnce(&mut dyn FnMut(&str) -> Option<i32>)) {
    MATCHER.with_borrow_mut(|matcher| {
        matcher.config.prefer_prefix = true;
        let (mut needle_memory, mut name_memory) = (Vec::new(), Vec::new());
        let needle = Utf32Str::new(typed, &mut needle_memory);
        let length = typed.chars().count();
        let exact = fold(typed);
        each(&mut |name: &str| {
            if length == 0 {
                return Some(0);
            }
            let fit = matcher.fuzzy_match(Utf32Str::new(name, &mut name_memory), needle)?;
            let folded = fold(name);
            let whole = if folded == exact {
                80
            } else if folded.starts_with(&exact) {
                24
            } else {
                0
            };
            Some(i32::from(fit) + whole)
        });
    });
}

/// Places of the typed characters in the name.
fn matched(typed: &str, name: &str) -> Vec<u32> {
    if typed.is_empty() {
        return Vec::new();
    }
    // nucleo prefers word starts over a plain prefix of short needles; what people expect to see marked is the prefix.
    if fold(name).starts_with(typed) {
        return (0..u32::try_from(typed.chars().count()).unwrap_or(0)).collect();
    }
    let mut places = Vec::new();
    MATCHER.with_borrow_mut(|matcher| {
        let (mut needle_memory, mut name_memory) = (Vec::new(), Vec::new());
        matcher.fuzzy_indices(Utf32Str::new(name, &mut name_memory), Utf32Str::new(typed, &mut needle_memory), &mut places);
    });
    places.sort_unstable();
    places.dedup();
    places
}
