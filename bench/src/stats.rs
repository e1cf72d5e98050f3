//! Medians and the interval of a ratio.
//!
//! Invariant: pure; the same samples and seed give the same figures.

/// The middle of the samples (mean of the two middles for an even count); `None` without samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// The sample below which the share `p` (0 to 1) of all lies.
pub fn percentile(samples: &[f64], p: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 ≤ p ≤ 1, so the place is within the samples")]
    let place = (p.clamp(0.0, 1.0) * last as f64).round() as usize;
    sorted.get(place).copied()
}

/// A ratio of medians with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// median(a) / median(b)
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Ratio {
    /// What may be said of it: an interval that holds 1 is no difference.
    pub fn verdict(&self) -> &'static str {
        if self.low <= 1.0 && self.high >= 1.0 {
            "no difference seen"
        } else if self.ratio < 1.0 {
            "less"
        } else {
            "more"
        }
    }
}

/// How often the samples are drawn again.
const DRAWS: usize = 2_000;

/// The ratio of the medians of `a` and `b`; `None` where either is empty or `b`'s median is 0.
pub fn ratio(a: &[f64], b: &[f64], seed: u64) -> Option<Ratio> {
    let of = |a: &[f64], b: &[f64]| Some(median(a)? / median(b).filter(|m| *m != 0.0)?);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut drawn: Vec<f64> = (0..DRAWS).filter_map(|_| of(&redraw(a, &mut random), &redraw(b, &mut random))).collect();
    drawn.sort_by(f64::total_cmp);
    Some(Ratio { ratio: of(a, b)?, low: percentile(&drawn, 0.025)?, high: percentile(&drawn, 0.975)? })
}

fn redraw(samples: &[f64], random: &mut fastrand::Rng) -> Vec<f64> {
    (0..samples.len()).filter_map(|_| random.choice(samples).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middles() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn equal_samples_show_no_difference_and_doubled_ones_do() {
        let a: Vec<f64> = (0..40).map(|i| 10.0 + f64::from(i % 7)).collect();
        let doubled: Vec<f64> = a.iter().map(|v| v * 2.0).collect();
        assert_eq!(ratio(&a, &a, 7).unwrap().verdict(), "no difference seen");
        let more = ratio(&doubled, &a, 7).unwrap();
        assert_eq!((more.ratio, more.verdict()), (2.0, "more"));
    }
}
