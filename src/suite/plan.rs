//! The resolved suite: what is measured, with which settings.

use cargo_metadata::{Metadata, Package};

use super::accept::{Accept, check_accepts};
use super::check::check_entries;
use super::error::{Invalid, LoadError, SelectionError, Sink, SuiteErrors};
use super::filter::Globs;
use super::harnesses;
use super::identity::{TargetId, TargetKind};
use super::keys::nearest;
use super::launch::{HarnessChoice, Launch};
use super::layers::BenchLayer;
use super::metric::Metric;
use super::overrides::Overrides;
use super::ranges;
use super::read::{Entry, TableLayer, read_table};
use super::resolve::resolve;
use super::run_wide::{RunWideSettings, settle};
use super::select::{Selection, globs, members, no_targets, select_packages, targets_of};
use super::settings::BenchmarkSettings;

/// A validated suite, with the selection of the command line.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The run-wide settings.
    pub run: RunWideSettings,
    /// What was changed or had no effect, for the user to read.
    pub notes: Vec<String>,
    /// Known slowdowns, those of the workspace first.
    pub accept: Vec<Accept>,
    targets: Vec<TargetPlan>,
    /// What the tables of the workspace and of each selected package say, one over the other.
    packages: Vec<(String, BenchLayer)>,
    entries: Vec<Entry>,
    flags: BenchLayer,
    filters: Option<Globs>,
    skips: Option<Globs>,
    containing: Vec<String>,
    head_only: bool,
}

/// One target that is built and run.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetPlan {
    /// Its name.
    pub id: TargetId,
    /// Features without which cargo does not build it.
    pub required_features: Vec<String>,
    /// The manifest of its package, relative to the workspace root, `/` between the parts.
    pub manifest_path: String,
    /// The harnesses its package depends on.
    pub harness_candidates: Vec<HarnessChoice>,
    /// The ways it is run; never empty.
    pub variants: Vec<VariantPlan>,
}

/// One way a target is run.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantPlan {
    /// The `name` of the entry that made it; empty by default.
    pub variant: String,
    /// How it is started to list its benchmarks; entries with a filter may change it for single ones.
    pub launch: Launch,
    /// Limit of one of its hooks, and of a unit run of it. ns.
    pub timeout_ns: u64,
}

/// What one benchmark is measured with.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedBenchmark {
    /// How it is measured and judged.
    pub settings: BenchmarkSettings,
    /// How it is started.
    pub launch: Launch,
}

impl Suite {
    /// Reads and checks the tables of the workspace and of the selected packages, with the flags on top.
    pub fn load(
        metadata: &Metadata,
        selection: &Selection,
        overrides: &Overrides,
    ) -> Result<Self, LoadError> {
        let selected = select_packages(metadata, selection)?;
        let filters = cli_globs(&selection.filters, "--filter")?;
        let skips = cli_globs(&selection.skips, "--skip")?;
        let mut sink = Sink::default();
        let manifest = |package: &Package| relative_manifest(metadata, package);

        let workspace = read_table(&metadata.workspace_metadata, "Cargo.toml", None, &mut sink);
        let tables: Vec<(&Package, TableLayer)> = selected
            .iter()
            .map(|&package| {
                let name = Some(package.name.as_str());
                (package, read_table(&package.metadata, &manifest(package), name, &mut sink))
            })
            .collect();
        let runs: Vec<_> =
            tables.iter().map(|(package, table)| (package.name.as_str(), &table.run)).collect();
        let run = settle(&workspace.run, &runs, overrides, &mut sink);

        let packages: Vec<_> = tables
            .iter()
            .map(|(package, table)| {
                let mut layer = workspace.bench.clone();
                layer.lay(&table.bench);
                (package.name.to_string(), layer)
            })
            .collect();
        let mut entries = workspace.entries;
        let mut accepts = workspace.accepts;
        for (_, table) in tables {
            entries.extend(table.entries);
            accepts.extend(table.accepts);
        }
        check_entries(&entries, &members(metadata), run.only_listed, &mut sink);
        let declared = declared_metrics(&packages, &entries);
        check_accepts(&accepts, &declared, &mut sink);
        let flags = overrides.layer(&declared, &mut sink);

        let mut suite = Self {
            run,
            notes: Vec::new(),
            accept: accepts.into_iter().map(|written| written.accept).collect(),
            targets: Vec::new(),
            packages,
            entries,
            flags,
            filters,
            skips,
            containing: selection.containing.clone(),
            head_only: overrides.head_only,
        };
        suite.targets =
            selected.iter().flat_map(|package| suite.plan_package(package, &manifest(package))).collect();
        suite.check_settings(&mut sink);
        suite.check_tails(&mut sink);
        suite.notes = sink.finish()?;
        suite.select_targets(metadata, &selected, selection)?;
        Ok(suite)
    }

    /// The targets, packages and kinds in order.
    pub fn targets(&self) -> &[TargetPlan] {
        &self.targets
    }

    /// Leaves out the targets that another revision does not have.
    pub fn keep_targets(&mut self, is_there: impl Fn(&TargetId) -> bool) {
        self.targets.retain(|plan| is_there(&plan.id));
    }

    /// The settings of one benchmark its harness listed, by the harness's word; `None` when a filter or `only_listed`
    /// leaves it out. The error is a mistake that only shows with the harness known.
    pub fn benchmark(
        &self,
        target: &TargetId,
        variant: &str,
        id: &str,
        harness_word: &str,
    ) -> Result<Option<ResolvedBenchmark>, SuiteErrors> {
        if !self.passes_flags(target, id) || !self.has_benchmark(target, variant, id) {
            return Ok(None);
        }
        let harness = HarnessChoice::from_word(harness_word).filter(|&word| word != HarnessChoice::Auto);
        let mut sink = Sink::default();
        let layer = self.layer(target, variant, |entry| entry.covers(id));
        let (settings, launch) = resolve(&layer, harness, self.head_only, &mut sink);
        sink.finish()?;
        Ok(Some(ResolvedBenchmark { settings, launch }))
    }

    /// The settings of a variant as a whole, for a row about a target whose benchmarks are not known.
    pub fn target_settings(&self, target: &TargetId, variant: &str) -> BenchmarkSettings {
        let layer = self.layer(target, variant, |entry| entry.covers_all() || entry.name.is_some());
        self.resolve(&layer, None, &mut Sink::default()).0
    }

    /// Whether any table, entry or flag names a metric, or a budget on it.
    pub fn names(&self, metric: &Metric) -> bool {
        let layers = self.packages.iter().map(|(_, layer)| layer);
        let mut layers = layers.chain(self.entries.iter().map(|entry| &entry.layer)).chain([&self.flags]);
        layers.any(|layer| {
            layer.metrics.contains_key(metric) || layer.budgets.iter().any(|budget| budget.metric == *metric)
        })
    }

    /// Whether a benchmark of that target and id is among those that are asked for.
    pub fn selects(&self, target: &TargetId, id: &str) -> bool {
        self.targets.iter().any(|plan| plan.id == *target) && self.passes_flags(target, id)
    }

    /// Whether the flags that choose benchmarks leave this one in.
    fn passes_flags(&self, target: &TargetId, id: &str) -> bool {
        let label = format!("{}/{id}", target.target);
        let hit = |globs: &Globs| globs.is_match(id) || globs.is_match(&label);
        let contained = self.containing.is_empty() || self.containing.iter().any(|text| id.contains(text));
        contained && self.filters.as_ref().is_none_or(hit) && !self.skips.as_ref().is_some_and(hit)
    }

    fn has_benchmark(&self, target: &TargetId, variant: &str, id: &str) -> bool {
        let Some(plan) = self.targets.iter().find(|plan| plan.id == *target) else { return false };
        if !plan.variants.iter().any(|plan| plan.variant == variant) {
            return false;
        }
        let mut entries = self.entries_of(target);
        if variant.is_empty() {
            return !self.run.only_listed || entries.any(|entry| entry.name.is_none() && entry.covers(id));
        }
        entries.any(|entry| entry.name.as_deref() == Some(variant) && entry.covers(id))
    }

    /// All entries, in order.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries about a target, in order.
    pub(super) fn entries_of(&self, target: &TargetId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| is_about(entry, target))
    }

    /// All layers of a variant, one over the other, of the entries that `applies` picks.
    pub(super) fn layer(
        &self,
        target: &TargetId,
        variant: &str,
        applies: impl Fn(&Entry) -> bool,
    ) -> BenchLayer {
        let below = self.packages.iter().find(|(name, _)| *name == target.package);
        let mut layer = below.map(|(_, layer)| layer.clone()).unwrap_or_default();
        let entries: Vec<_> = self.entries_of(target).filter(|entry| applies(entry)).collect();
        for entry in entries.iter().filter(|entry| entry.name.is_none()) {
            layer.lay(&entry.layer);
        }
        for entry in entries.iter().filter(|entry| entry.name.as_deref() == Some(variant)) {
            layer.lay(&entry.layer);
        }
        layer.lay(&self.flags);
        if target.kind != TargetKind::Bench {
            // A program of the user's own holds no bench harness unless they say so.
            let word = layer.launch.harness.as_ref().map(|set| set.value);
            if matches!(word, None | Some(HarnessChoice::Auto)) {
                let written = String::new();
                let place = super::error::Place::command_line();
                layer.launch.harness =
                    Some(super::layers::Set { value: HarnessChoice::Process, written, place });
            }
        }
        layer
    }

    pub(super) fn resolve(
        &self,
        layer: &BenchLayer,
        harness: Option<HarnessChoice>,
        sink: &mut Sink,
    ) -> (BenchmarkSettings, Launch) {
        resolve(layer, harness, self.head_only, sink)
    }

    fn plan_package(&self, package: &Package, manifest_path: &str) -> Vec<TargetPlan> {
        let mut plans = Vec::new();
        for &kind in TargetKind::ALL {
            for target in targets_of(package, kind) {
                let id = TargetId { package: package.name.to_string(), kind, target: target.name.clone() };
                let variants = self.variants(&id);
                if variants.is_empty() {
                    continue;
                }
                plans.push(TargetPlan {
                    id,
                    required_features: target.required_features.clone(),
                    manifest_path: manifest_path.to_owned(),
                    harness_candidates: harnesses::candidates(package),
                    variants,
                });
            }
        }
        plans
    }

    /// The variants of a target: one for each name, and the nameless one where it is wanted.
    fn variants(&self, target: &TargetId) -> Vec<VariantPlan> {
        let entries: Vec<_> = self.entries_of(target).collect();
        let nameless = entries.iter().any(|entry| entry.name.is_none() && entry.target.is_some());
        let listed = entries.iter().any(|entry| entry.name.is_none());
        // Entries with a name that cover the whole target say how it is run, in place of the plain way.
        let replaced = entries.iter().any(|entry| entry.name.is_some() && entry.covers_all()) && !nameless;
        let plain = match target.kind {
            TargetKind::Bench if self.run.only_listed => listed && !replaced,
            TargetKind::Bench => !replaced,
            TargetKind::Bin | TargetKind::Example => nameless,
        };
        let mut names: Vec<&str> = if plain { vec![""] } else { Vec::new() };
        for name in entries.iter().filter_map(|entry| entry.name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
            .into_iter()
            .map(|variant| {
                let layer = self.layer(target, variant, |entry| entry.covers_all() || entry.name.is_some());
                // Mistakes are found by the check of all settings.
                let (settings, launch) = self.resolve(&layer, None, &mut Sink::default());
                let timeout_ns = settings.sampling.timeout_ns;
                VariantPlan { variant: variant.to_owned(), launch, timeout_ns }
            })
            .collect()
    }

    /// Resolves every combination of layers that can be told from the suite alone: what all benchmarks of a variant have,
    /// and that with each filtered entry. Several filtered entries meet only on benchmarks known later.
    fn check_settings(&self, sink: &mut Sink) {
        for plan in &self.targets {
            for variant in &plan.variants {
                let filtered: Vec<_> = self
                    .entries_of(&plan.id)
                    .filter(|entry| entry.name.is_none() && !entry.covers_all())
                    .map(|entry| Some(&entry.place))
                    .collect();
                for extra in std::iter::once(None).chain(filtered) {
                    let layer = self.layer(&plan.id, &variant.variant, |entry| {
                        entry.covers_all() || entry.name.is_some() || Some(&entry.place) == extra
                    });
                    let harness = layer
                        .launch
                        .harness
                        .as_ref()
                        .map(|set| set.value)
                        .filter(|&h| h != HarnessChoice::Auto);
                    self.resolve(&layer, harness, sink);
                }
            }
        }
    }

    /// A percentile so far out that its budget takes more runs than anyone waits for.
    fn check_tails(&self, sink: &mut Sink) {
        if self.run.max_time_ns.is_some() {
            return;
        }
        for budget in self.entries.iter().flat_map(|entry| &entry.layer.budgets) {
            let needed = budget.aggregation.samples_needed();
            if ranges::MOST_TAIL_SAMPLES < needed {
                let invalid = Invalid::with_help(
                    format!("needs {needed} runs of head"),
                    "write a lower percentile, or set max_time: what there is when it is over is then checked",
                );
                sink.error(&budget.place, &budget.key, Some(format!("{:?}", budget.written)), invalid);
            }
        }
    }

    fn select_targets(
        &mut self,
        metadata: &Metadata,
        selected: &[&Package],
        selection: &Selection,
    ) -> Result<(), SelectionError> {
        if self.targets.is_empty() {
            let benches: Vec<String> = selected
                .iter()
                .flat_map(|package| targets_of(package, TargetKind::Bench))
                .map(|target| target.name.clone())
                .collect();
            return Err(match benches.as_slice() {
                [] => no_targets(metadata, selected),
                _ => SelectionError::NothingListed { known: benches },
            });
        }
        if selection.benches.is_empty() {
            return Ok(());
        }
        let known: Vec<String> = self.targets.iter().map(|plan| plan.id.target.clone()).collect();
        let mut wanted = Vec::new();
        for pattern in &selection.benches {
            let globs = globs(std::slice::from_ref(pattern), "--bench")?;
            if !known.iter().any(|name| globs.is_match(name)) {
                let nearest = nearest(pattern, &known);
                return Err(SelectionError::NoSuchTarget { pattern: pattern.clone(), nearest, known });
            }
            wanted.push(globs);
        }
        self.targets.retain(|plan| wanted.iter().any(|globs| globs.is_match(&plan.id.target)));
        Ok(())
    }
}

pub(super) fn is_about(entry: &Entry, target: &TargetId) -> bool {
    entry.package == target.package
        && entry.kind == target.kind
        && entry.target.as_ref().is_none_or(|name| *name == target.target)
}

fn cli_globs(patterns: &[String], flag: &str) -> Result<Option<Globs>, SelectionError> {
    if patterns.is_empty() { Ok(None) } else { globs(patterns, flag).map(Some) }
}

/// The metrics of the user's own that any layer gives a unit.
fn declared_metrics(packages: &[(String, BenchLayer)], entries: &[Entry]) -> Vec<String> {
    let layers = packages.iter().map(|(_, layer)| layer).chain(entries.iter().map(|entry| &entry.layer));
    let mut names: Vec<_> = layers
        .flat_map(|layer| &layer.metrics)
        .filter(|(metric, written)| matches!(metric, Metric::Own(_)) && written.unit.is_some())
        .map(|(metric, _)| metric.name().to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The manifest relative to the workspace root; as it is where it lies elsewhere.
fn relative_manifest(metadata: &Metadata, package: &Package) -> String {
    let path = &package.manifest_path;
    path.strip_prefix(&metadata.workspace_root).unwrap_or(path).as_str().replace('\\', "/")
}
