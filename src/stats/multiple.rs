//! Adjusting p-values for many tests.

/// Holm's step-down adjusted p-values (1979), in the order given, at most 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut highest: f64 = 0.0;
    for (position, &index) in ascending(p).iter().enumerate() {
        highest = highest.max(((p.len() - position) as f64 * p[index]).min(1.0));
        adjusted[index] = highest;
    }
    adjusted
}

/// The step-up adjusted p-values of Benjamini and Hochberg (1995), in the order given: they bound the share of false
/// ones among those called, not the chance of one.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut lowest: f64 = 1.0;
    for (position, &index) in ascending(p).iter().enumerate().rev() {
        lowest = lowest.min(p[index] * p.len() as f64 / (position + 1) as f64);
        adjusted[index] = lowest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&left, &right| p[left].total_cmp(&p[right]));
    order
}
