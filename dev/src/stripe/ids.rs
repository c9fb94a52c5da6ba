//! Identifiers that look like Stripe's and are new in every history.

use fastrand::Rng;

/// Makes identifiers from a seed: the same seed makes the same ones.
#[derive(Debug)]
pub(super) struct Ids(Rng);

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// An identifier with this prefix, such as `evt`.
    pub(super) fn next(&mut self, prefix: &str) -> String {
        const LENGTH: usize = 23;
        let tail: String = (0..LENGTH).map(|_| self.0.alphanumeric()).collect();
        format!("{prefix}_1{tail}")
    }
}
