//! The Monte Carlo bootstrap: a law from a stated number of seeded random resamples.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::describe::mean;
use super::law::ChangeLaw;
use super::quantile::{median, quantile};

/// What is taken of each resample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The middle value, or the average of the middle two.
    Median,
    /// Sum over count.
    Mean,
}

/// The ratios head* / base* of random resamples, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    ratios: Vec<f64>,
}

impl Draws {
    /// Resamples each side on its own, base before head in each draw. `None` as soon as a statistic of base is 0 or
    /// below: then there is no law. Sides must not be empty.
    pub fn independent(base: &[f64], head: &[f64], taken: Taken, count: u32, key: [u8; 32]) -> Option<Self> {
        let mut generator = ChaCha8Rng::from_seed(key);
        let (mut new_base, mut new_head) = (vec![0.0; base.len()], vec![0.0; head.len()]);
        Self::collect(count, || {
            new_base.iter_mut().for_each(|slot| *slot = base[index(&mut generator, base.len())]);
            new_head.iter_mut().for_each(|slot| *slot = head[index(&mut generator, head.len())]);
            (statistic(&mut new_base, taken), statistic(&mut new_head, taken))
        })
    }

    /// Resamples whole pairs (base, head) and takes the ratio of the two statistics.
    pub fn paired(pairs: &[(f64, f64)], taken: Taken, count: u32, key: [u8; 32]) -> Option<Self> {
        let mut generator = ChaCha8Rng::from_seed(key);
        let (mut new_base, mut new_head) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
        Self::collect(count, || {
            for slot in 0..pairs.len() {
                (new_base[slot], new_head[slot]) = pairs[index(&mut generator, pairs.len())];
            }
            (statistic(&mut new_base, taken), statistic(&mut new_head, taken))
        })
    }

    /// The ratios, ascending.
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    fn collect(count: u32, mut draw: impl FnMut() -> (f64, f64)) -> Option<Self> {
        let mut ratios = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let (base, head) = draw();
            if base <= 0.0 {
                return None;
            }
            ratios.push(head / base);
        }
        ratios.sort_unstable_by(f64::total_cmp);
        Some(Self { ratios })
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.ratios.len().max(1) as f64
    }
}

/// An index below `len`, by a rule of our own: the range sampling of the rand crates may change between versions.
fn index(generator: &mut ChaCha8Rng, len: usize) -> usize {
    ((u128::from(generator.next_u64()) * len as u128) >> 64) as usize
}

fn statistic(resample: &mut [f64], taken: Taken) -> f64 {
    let value = match taken {
        Taken::Mean => mean(resample),
        Taken::Median => {
            resample.sort_unstable_by(f64::total_cmp);
            median(resample)
        }
    };
    value.unwrap_or(0.0)
}

impl ChangeLaw for Draws {
    fn above(&self, ratio: f64) -> f64 {
        self.share(self.ratios.len() - self.ratios.partition_point(|&value| value <= ratio))
    }

    fn at_least(&self, ratio: f64) -> f64 {
        self.share(self.ratios.len() - self.ratios.partition_point(|&value| value < ratio))
    }

    fn below(&self, ratio: f64) -> f64 {
        self.share(self.ratios.partition_point(|&value| value < ratio))
    }

    /// The R-7 quantile of the drawn ratios.
    fn quantile(&self, p: f64) -> f64 {
        quantile(&self.ratios, p).unwrap_or(1.0)
    }
}
