//! Which benchmark a name means.

use super::key::SeriesKey;
use super::marks::Pattern;
use crate::suite::keys::nearest;

/// The keys whose benchmark a name or glob means, in their order. A name in full means that benchmark alone.
///
/// # Errors
///
/// When none is, with the nearest names.
pub fn named<'a>(
    keys: impl Iterator<Item = &'a SeriesKey>,
    name: &str,
) -> Result<Vec<&'a SeriesKey>, String> {
    let keys: Vec<&SeriesKey> = keys.collect();
    let pattern = Pattern::new(name);
    let all = |is_meant: &dyn Fn(&SeriesKey) -> bool| -> Vec<&'a SeriesKey> {
        keys.iter().copied().filter(|key| is_meant(key)).collect()
    };
    let mut found = all(&|key| pattern.is_name_of(key));
    if found.is_empty() {
        found = all(&|key| pattern.matches(key));
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let mut labels: Vec<String> = keys.iter().map(|key| key.label()).collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.is_empty() {
        return Err(
            "the history holds no results yet; record some with `cargo benchgate run --record`".to_owned()
        );
    }
    let hint = match nearest(name, &labels) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has {}", listed(&labels)),
    };
    Err(format!("the history has no benchmark `{name}`; {hint}"))
}

fn listed(labels: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| format!("`{label}`")).collect();
    match labels.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
