//! Renamed series: what was measured under one name goes on under another. Append-only, like marks: no report is changed.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::index::{Index, IndexedRun};
use super::key::SeriesKey;
use crate::suite::identity::TargetKind;
use crate::suite::settings::word_enum;

word_enum! {
    /// A part of a series' key that can get another name. The unit is not among them: it tells what the numbers are.
    Part {
        /// The package.
        Package = "package",
        /// The kind of target.
        Kind = "kind",
        /// The target.
        Target = "target",
        /// The variant.
        Variant = "variant",
        /// The benchmark's id.
        Id = "id",
        /// The metric.
        Metric = "metric",
        /// The machine.
        Machine = "machine",
        /// The cargo profile.
        Profile = "profile",
        /// The features.
        Features = "features",
        /// The target triple.
        Triple = "triple",
    }
}

/// A part of a key and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The part.
    pub part: Part,
    /// Its text.
    pub text: String,
}

/// One event: a file of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rekey {
    /// 1.
    pub schema_version: u32,
    /// The keys it is about: those with all of these texts.
    pub from: Vec<Named>,
    /// What their parts are from now on.
    pub to: Vec<Named>,
    /// Takes back the newest earlier event with the same `from` and `to`.
    #[serde(default)]
    pub undo: bool,
    /// Why.
    pub reason: String,
    /// When it was said, RFC 3339.
    pub at: String,
}

/// The renamings in effect, in the order in which they are applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rekeys(Vec<Rekey>);

impl Named {
    /// `part=text`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = || {
            let words: Vec<&str> = Part::ALL.iter().map(|part| part.as_str()).collect();
            words.join(", ")
        };
        let (part, text) =
            text.split_once('=').ok_or_else(|| format!("write PART=TEXT; parts are {}", known()))?;
        let part = Part::from_word(part)
            .ok_or_else(|| format!("`{part}` is no part of a series' key; they are {}", known()))?;
        if part == Part::Kind && TargetKind::from_word(text).is_none() {
            return Err(format!("`{text}` is no kind of target; they are bench, bin, example"));
        }
        Ok(Self { part, text: text.to_owned() })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.part, self.text)
    }
}

impl Rekey {
    /// Whether a key has all texts that it names.
    pub fn is_about(&self, key: &SeriesKey) -> bool {
        self.from.iter().all(|named| part_of(key, named.part) == named.text)
    }

    /// What becomes of a key that it is about.
    fn renamed(&self, mut key: SeriesKey) -> SeriesKey {
        for Named { part, text } in &self.to {
            let slot = match part {
                Part::Kind => {
                    // A kind that a later version knows leaves the key as it is.
                    key.benchmark.target.kind =
                        TargetKind::from_word(text).unwrap_or(key.benchmark.target.kind);
                    continue;
                }
                Part::Package => &mut key.benchmark.target.package,
                Part::Target => &mut key.benchmark.target.target,
                Part::Variant => &mut key.benchmark.variant,
                Part::Id => &mut key.benchmark.id,
                Part::Metric => &mut key.metric,
                Part::Machine => &mut key.machine,
                Part::Profile => &mut key.profile,
                Part::Features => &mut key.features,
                Part::Triple => &mut key.triple,
            };
            slot.clone_from(text);
        }
        key
    }

    fn is_of_the_same(&self, other: &Self) -> bool {
        self.from == other.from && self.to == other.to
    }

    /// `package=old id=a to id=b`.
    pub fn words(&self) -> String {
        let listed = |named: &[Named]| named.iter().map(Named::to_string).collect::<Vec<_>>().join(" ");
        format!("{} to {}", listed(&self.from), listed(&self.to))
    }
}

/// The text of a part of a key.
pub fn part_of(key: &SeriesKey, part: Part) -> &str {
    match part {
        Part::Package => &key.benchmark.target.package,
        Part::Kind => key.benchmark.target.kind.as_str(),
        Part::Target => &key.benchmark.target.target,
        Part::Variant => &key.benchmark.variant,
        Part::Id => &key.benchmark.id,
        Part::Metric => &key.metric,
        Part::Machine => &key.machine,
        Part::Profile => &key.profile,
        Part::Features => &key.features,
        Part::Triple => &key.triple,
    }
}

impl Rekeys {
    /// What is in effect of these events, which are in the order of their times.
    pub fn new(events: &[Rekey]) -> Self {
        let mut kept: Vec<Rekey> = Vec::new();
        for event in events {
            if !event.undo {
                kept.push(event.clone());
            } else if let Some(at) = kept.iter().rposition(|earlier| earlier.is_of_the_same(event)) {
                kept.remove(at);
            }
        }
        Self(kept)
    }

    /// The renamings in effect.
    pub fn events(&self) -> &[Rekey] {
        &self.0
    }

    /// What a key is called now.
    pub fn of(&self, key: &SeriesKey) -> SeriesKey {
        self.names(key).pop().unwrap_or_else(|| key.clone())
    }

    /// What a key was called from the first name to the one of now.
    fn names(&self, key: &SeriesKey) -> Vec<SeriesKey> {
        let mut names = vec![key.clone()];
        for event in &self.0 {
            let renamed =
                names.last().filter(|key| event.is_about(key)).map(|key| event.renamed(key.clone()));
            names.extend(renamed);
        }
        names
    }

    /// A report's facts under the names of now.
    pub fn facts(&self, mut facts: Facts) -> Facts {
        if !self.0.is_empty() {
            let keys = facts.points.iter_mut().map(|point| &mut point.key).chain(&mut facts.errored);
            keys.for_each(|key| *key = self.of(key));
        }
        facts
    }

    /// The index under the names of now, and how many runs hold results of both names. Those stay apart: two results
    /// of one run are two benchmarks, whatever a renaming says.
    pub fn index(&self, index: Index) -> (Index, usize) {
        if self.0.is_empty() {
            return (index, 0);
        }
        let mut keys: Vec<SeriesKey> = index.keys;
        let mut numbers: HashMap<SeriesKey, u32> = keys.iter().cloned().zip(0..).collect();
        let mut renamed: Vec<u32> = Vec::with_capacity(keys.len());
        let mut names: Vec<Vec<SeriesKey>> = Vec::with_capacity(keys.len());
        for old in 0..keys.len() {
            let mut former = self.names(&keys[old]);
            let new = former.pop().unwrap_or_else(|| keys[old].clone());
            names.push(former);
            let number = *numbers.entry(new).or_insert_with_key(|new| {
                keys.push(new.clone());
                u32::try_from(keys.len() - 1).expect("fewer series than 2^32 fit into memory")
            });
            renamed.push(number);
        }
        let mut apart = 0;
        let mut moved: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut reports = index.reports;
        for run in reports.iter_mut().filter_map(|report| report.content.as_mut().ok()) {
            apart += usize::from(rename(run, &renamed, &mut moved));
        }
        let mut former: HashMap<u32, Vec<SeriesKey>> = HashMap::new();
        for (new, old) in moved {
            former.entry(new).or_default().extend(names[old as usize].iter().cloned());
        }
        (Index { keys, machines: index.machines, reports, former }, apart)
    }
}

/// Renames the series of a run, and notes which (new, old) were; whether some had to stay because the run has results of
/// their new name.
fn rename(run: &mut IndexedRun, renamed: &[u32], moved: &mut BTreeSet<(u32, u32)>) -> bool {
    // Who has a name: first those that had it always.
    let mut owner: HashMap<u32, u32> = HashMap::new();
    for point in &run.points {
        if renamed[point.key as usize] == point.key {
            owner.insert(point.key, point.key);
        }
    }
    let mut stayed = false;
    for point in &mut run.points {
        let new = renamed[point.key as usize];
        if *owner.entry(new).or_insert(point.key) == point.key {
            if new != point.key {
                moved.insert((new, point.key));
            }
            point.key = new;
        } else {
            stayed = true;
        }
    }
    run.points.sort_by_key(|point| (point.key, point.revision));
    run.errored.iter_mut().chain(&mut run.unmeasured).for_each(|key| *key = renamed[*key as usize]);
    stayed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::identity::{BenchmarkIdentity, TargetId};

    fn key(id: &str, machine: &str) -> SeriesKey {
        let target = TargetId { package: "p".into(), kind: TargetKind::Bench, target: "t".into() };
        SeriesKey {
            benchmark: BenchmarkIdentity { target, variant: String::new(), id: id.into() },
            metric: "latency".into(),
            unit: "ns".into(),
            machine: machine.into(),
            profile: "bench".into(),
            features: String::new(),
            triple: String::new(),
        }
    }

    fn event(from: &[&str], to: &[&str], undo: bool) -> Rekey {
        let named =
            |texts: &[&str]| texts.iter().map(|text| Named::parse(text).expect("it is one")).collect();
        Rekey {
            schema_version: 1,
            from: named(from),
            to: named(to),
            undo,
            reason: "renamed".into(),
            at: String::new(),
        }
    }

    #[test]
    fn renamings_follow_one_another_and_touch_only_what_has_all_texts() {
        let events =
            [event(&["id=a", "machine=m"], &["id=b"], false), event(&["id=b"], &["id=c", "target=u"], false)];
        let rekeys = Rekeys::new(&events);
        let moved = rekeys.of(&key("a", "m"));
        assert_eq!((moved.benchmark.id.as_str(), moved.benchmark.target.target.as_str()), ("c", "u"));
        assert_eq!(rekeys.of(&key("a", "other")), key("a", "other"));
    }

    #[test]
    fn undo_takes_back_the_newest_of_the_same_words_and_nothing_else() {
        let there = event(&["id=a"], &["id=b"], false);
        let other = event(&["id=x"], &["id=y"], false);
        let back = Rekey { undo: true, ..there.clone() };
        let rekeys = Rekeys::new(&[there.clone(), other.clone(), back.clone()]);
        assert_eq!(rekeys.events(), std::slice::from_ref(&other));
        assert_eq!(Rekeys::new(&[back, there.clone()]).events(), std::slice::from_ref(&there));
    }

    #[test]
    fn every_part_but_the_unit_can_be_named_and_anything_else_is_refused_with_the_parts() {
        for part in Part::ALL {
            let text = if *part == Part::Kind { "bin" } else { "x" };
            let named = Named::parse(&format!("{part}={text}")).expect("it is one");
            let to = Rekey { to: vec![named], ..event(&[], &[], false) };
            assert_eq!(part_of(&to.renamed(key("a", "m")), *part), text);
        }
        assert!(Named::parse("unit=ns").expect_err("no part").contains("package, kind, target"));
        assert!(Named::parse("id").expect_err("no text").contains("PART=TEXT"));
        assert!(Named::parse("kind=test").expect_err("no kind").contains("bench, bin, example"));
        assert_eq!(Named::parse("id=a=b").expect("only the first = divides").text, "a=b");
    }
}
