//! Whether the server answers.

/// The link to Sheaf's own server, as the event stream feels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The stream stands.
    Up,
    /// It ended; another try is under way.
    Lost,
}

/// Milliseconds before try number `failures` (from 1): doubling, at most half a minute.
pub fn pause_ms(failures: u32) -> u32 {
    500u32.saturating_mul(1 << failures.saturating_sub(1).min(6)).min(30_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_bounded() {
        assert_eq!([1, 2, 3, 7, 100].map(pause_ms), [500, 1_000, 2_000, 30_000, 30_000]);
    }
}
