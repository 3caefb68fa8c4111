//! Ranks with ties at their middle, doubled so that they stay whole numbers.

/// Midranks of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// Twice the midrank of each value, in the order of the sample.
    pub doubled: Vec<u64>,
    /// Sum of t³ - t over the groups of t equal values.
    pub tie_term: f64,
}

impl Ranks {
    /// Ranks the values; those at most `slack` above the first of their group count as equal to it.
    pub fn of(values: &[f64], slack: f64) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&left, &right| values[left].total_cmp(&values[right]));
        let mut doubled = vec![0; values.len()];
        let mut tie_term = 0.0;
        let mut start = 0;
        while start < order.len() {
            let first = values[order[start]];
            let group =
                order[start..].iter().take_while(|&&index| values[index] - first <= slack).count().max(1);
            // Ranks start + 1 to start + group: twice their mean.
            for &index in &order[start..start + group] {
                doubled[index] = (2 * start + group + 1) as u64;
            }
            let size = group as f64;
            tie_term += size * size * size - size;
            start += group;
        }
        Self { doubled, tie_term }
    }

    /// Whether two values are equal.
    pub fn has_ties(&self) -> bool {
        0.0 < self.tie_term
    }
}
