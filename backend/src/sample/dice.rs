//! Chance that always falls the same way.
//!
//! Invariant: a pure function of the seed, on every machine and in every version of every library: it is written out here.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Dice(u64);

impl Dice {
    /// Dice of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both possible.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.abs_diff(low).saturating_add(1);
        // The high half of a product: even enough, and quicker than a remainder.
        let step = (u128::from(self.bits()) * u128::from(span)) >> 64;
        low.saturating_add(i64::try_from(step).unwrap_or(0))
    }

    /// A number from `low` to `high` where low ones come more often.
    pub fn mostly_low(&mut self, low: i64, high: i64) -> i64 {
        let reach = self.between(low, high);
        self.between(low, reach)
    }

    /// Yes in so many of a hundred cases.
    pub fn percent(&mut self, yes: i64) -> bool {
        self.between(1, 100) <= yes
    }

    /// One of these.
    pub fn pick<T: Copy + Default>(&mut self, from: &[T]) -> T {
        let last = i64::try_from(from.len()).unwrap_or(1) - 1;
        usize::try_from(self.between(0, last)).ok().and_then(|at| from.get(at)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut dice = Dice::new(1_234_567);
        assert_eq!([dice.bits(), dice.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn both_ends_come_up_and_nothing_beyond() {
        let mut dice = Dice::new(1);
        let drawn: Vec<i64> = (0..1_000).map(|_| dice.between(-2, 2)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-2), Some(&2)));
    }
}
