//! In which order variants are measured: a warm-up of each, then blocks in which each stands once, in random order.

/// The order of one study: indices of variants, block after block.
pub fn blocks(variants: usize, blocks: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..blocks)
        .map(|_| {
            let mut order: Vec<usize> = (0..variants).collect();
            random.shuffle(&mut order);
            order
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_holds_every_variant_once_and_the_seed_decides_the_order() {
        let order = blocks(3, 20, 1);
        assert!(order.iter().all(|block| (0..3).all(|v| block.iter().filter(|w| **w == v).count() == 1)));
        assert_eq!(order, blocks(3, 20, 1));
        assert_ne!(order, blocks(3, 20, 2));
    }
}
