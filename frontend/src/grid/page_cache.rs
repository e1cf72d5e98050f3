//! Pages that were fetched, the least lately used given up when their bytes are over the budget.
//!
//! Invariant: pure, no `web_sys`. A page in the pinned range (what the window shows) is never given up.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bytes of pages kept in the browser.
pub const CACHE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Pages by number. `P` is a page: a record batch here, anything in a test.
#[derive(Debug)]
pub struct PageCache<P> {
    pages: HashMap<u32, Held<P>>,
    bytes: usize,
    budget_bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Held<P> {
    page: Arc<P>,
    bytes: usize,
    used: u64,
}

impl<P> PageCache<P> {
    /// An empty one.
    pub fn new(budget_bytes: usize) -> Self {
        Self { pages: HashMap::new(), bytes: 0, budget_bytes, clock: 0 }
    }

    /// Keeps a page; gives up others outside `pinned` until the budget holds.
    pub fn insert(&mut self, n: u32, page: Arc<P>, bytes: usize, pinned: RangeInclusive<u32>) {
        self.clock += 1;
        if let Some(old) = self.pages.insert(n, Held { page, bytes, used: self.clock }) {
            self.bytes -= old.bytes;
        }
        self.bytes += bytes;
        while self.bytes > self.budget_bytes {
            let oldest =
                self.pages.iter().filter(|(k, _)| **k != n && !pinned.contains(k)).min_by_key(|(_, held)| held.used).map(|(k, _)| *k);
            let Some(given_up) = oldest.and_then(|k| self.pages.remove(&k)) else { return };
            self.bytes -= given_up.bytes;
        }
    }

    /// A page, marked as used.
    pub fn get(&mut self, n: u32) -> Option<Arc<P>> {
        self.clock += 1;
        let held = self.pages.get_mut(&n)?;
        held.used = self.clock;
        Some(held.page.clone())
    }

    /// A page is there.
    pub fn contains(&self, n: u32) -> bool {
        self.pages.contains_key(&n)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(budget: usize, pages: u32) -> PageCache<u32> {
        let mut cache = PageCache::new(budget);
        for n in 0..pages {
            cache.insert(n, Arc::new(n), 10, n..=n);
        }
        cache
    }

    #[test]
    fn the_least_lately_used_page_goes_first() {
        let mut cache = filled(30, 3);
        cache.get(0);
        cache.insert(3, Arc::new(3), 10, 3..=3);
        assert!(cache.contains(0) && !cache.contains(1) && cache.contains(2) && cache.contains(3));
        assert_eq!(cache.bytes(), 30);
    }

    #[test]
    fn pinned_pages_stay_even_over_the_budget() {
        let mut cache = filled(30, 3);
        cache.insert(3, Arc::new(3), 100, 1..=3);
        assert!(!cache.contains(0) && cache.contains(1) && cache.contains(2) && cache.contains(3));
    }

    #[test]
    fn a_page_that_comes_twice_counts_once() {
        let mut cache = filled(100, 2);
        cache.insert(1, Arc::new(7), 30, 0..=0);
        assert_eq!(cache.bytes(), 40);
        assert_eq!(cache.get(1).as_deref(), Some(&7));
        assert_eq!(cache.get(9), None);
    }
}
