//! The index: the facts of all reports of a store, read once. On disk it is a cache that may be deleted at any time.

mod codec;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::facts::{Facts, RevisionFacts};
use super::key::SeriesKey;
use super::parallel::in_parallel;
use super::store::{Listed, REPORTS, Store};
use super::tolerance::Floors;
use crate::error::Error;
use crate::suite::metric::Better;

/// Files that are read before what they hold is taken in.
const CHUNK: usize = 256;

/// All that is known of a store's reports.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Index {
    /// The series that occur.
    pub keys: Vec<SeriesKey>,
    /// Machines: fingerprint and description.
    pub machines: BTreeMap<String, String>,
    /// The reports, by file name.
    pub reports: Vec<IndexedReport>,
    /// What results of a series were called before they were renamed, by the number of the series. Not kept on disk.
    pub former: HashMap<u32, Vec<SeriesKey>>,
}

/// One report of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedReport {
    /// Its file.
    pub file: Listed,
    /// What it holds, or why it cannot be used.
    pub content: Result<IndexedRun, String>,
}

/// The run of one report.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedRun {
    /// Names the run.
    pub run: [u8; 16],
    /// When it was measured. ns since 1970.
    pub result_time: i64,
    /// The seed it drew, which tells apart runs that began in one second.
    pub seed: u64,
    /// Whether it was made from foreign data.
    pub imported: bool,
    /// The fingerprint of the machine.
    pub machine: Arc<str>,
    /// The compiler.
    pub rustc: Arc<str>,
    /// The revisions.
    pub revisions: Vec<RevisionFacts>,
    /// Benchmarks that failed or were interrupted: indices into the keys, of keys without metric.
    pub errored: Vec<u32>,
    /// Benchmarks without a number: indices like those.
    pub unmeasured: Vec<u32>,
    /// The numbers, by series and revision.
    pub points: Vec<IndexedPoint>,
}

/// One number of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedPoint {
    /// Index into the keys.
    pub key: u32,
    /// Index into the revisions.
    pub revision: u8,
    /// The direction.
    pub better: Better,
    /// Whether the metric gates.
    pub gate: bool,
    /// Unit runs.
    pub samples: u32,
    /// The best unit run.
    pub best: f64,
    /// The median of the unit runs.
    pub median: f64,
    /// The practical tolerance.
    pub floors: Floors,
}

impl IndexedRun {
    /// The numbers of one series.
    pub fn of_series(&self, key: u32) -> &[IndexedPoint] {
        let start = self.points.partition_point(|point| point.key < key);
        let count = self.points[start..].iter().take_while(|point| point.key == key).count();
        &self.points[start..start + count]
    }
}

impl Index {
    /// The direction of each series, by its newest report.
    pub fn directions(&self) -> super::import::Directions {
        let mut directions = super::import::Directions::new();
        for run in self.reports.iter().filter_map(|report| report.content.as_ref().ok()) {
            for point in &run.points {
                let key = &self.keys[point.key as usize];
                directions.insert((key.label(), key.metric.clone(), key.unit.clone()), point.better);
            }
        }
        directions
    }

    /// All names under which results of a series are known: its own, and those from before a renaming.
    pub fn names(&self, number: usize) -> impl Iterator<Item = &SeriesKey> {
        let former = u32::try_from(number).ok().and_then(|number| self.former.get(&number));
        std::iter::once(&self.keys[number]).chain(former.into_iter().flatten())
    }

    /// Which series have results.
    pub fn measured(&self) -> Vec<bool> {
        let mut measured = vec![false; self.keys.len()];
        for run in self.reports.iter().filter_map(|report| report.content.as_ref().ok()) {
            run.points.iter().for_each(|point| measured[point.key as usize] = true);
        }
        measured
    }

    /// The index of a store: from its cache, with the files read that are new since.
    ///
    /// # Errors
    ///
    /// When the store cannot be listed. A cache that is damaged, or cannot be written, costs time and nothing else.
    pub fn load(store: &Store) -> Result<Self, Error> {
        let files = store.list(REPORTS)?;
        let cached = fs_err::read(store.index_path()).ok().and_then(|bytes| codec::decode(&bytes));
        let cached = cached.unwrap_or_default();
        // What could not be used is looked at again: a torn copy may have been replaced.
        let as_cached =
            |(report, file): (&IndexedReport, &Listed)| report.file == *file && report.content.is_ok();
        if cached.reports.len() == files.len() && cached.reports.iter().zip(&files).all(as_cached) {
            return Ok(cached);
        }
        let index = cached.updated(store, files);
        // A history on read-only media works without its cache.
        let _ = index.save(store);
        Ok(index)
    }

    fn save(&self, store: &Store) -> std::io::Result<()> {
        let path = store.index_path();
        let folder = path.parent().expect("the index lies in the cache folder");
        fs_err::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, &codec::encode(self))?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The index of these files: what was known is kept, the rest is read.
    fn updated(self, store: &Store, files: Vec<Listed>) -> Self {
        let mut known: HashMap<Listed, IndexedReport> = self
            .reports
            .into_iter()
            .filter(|report| report.content.is_ok())
            .map(|report| (report.file.clone(), report))
            .collect();
        let kept: Vec<Option<IndexedReport>> = files.iter().map(|file| known.remove(file)).collect();
        let new: Vec<&Listed> =
            files.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(file, _)| file).collect();
        // Some files at a time: their facts take more memory than what becomes of them.
        let mut chunks = new.chunks(CHUNK);
        let mut read = Vec::new().into_iter();
        let mut index = Self { keys: self.keys, machines: self.machines, ..Self::default() };
        let mut numbers: HashMap<SeriesKey, u32> = index.keys.iter().cloned().zip(0..).collect();
        for (file, kept) in files.iter().zip(kept) {
            let report = match kept {
                Some(report) => report,
                None => {
                    if read.len() == 0 {
                        read = read_all(store, chunks.next().unwrap_or_default()).into_iter();
                    }
                    let facts = read.next().expect("every new file is in a chunk");
                    let content = facts.map(|facts| index.take_in(facts, &mut numbers));
                    IndexedReport { file: file.clone(), content }
                }
            };
            index.reports.push(report);
        }
        index
    }

    fn take_in(&mut self, facts: Facts, numbers: &mut HashMap<SeriesKey, u32>) -> IndexedRun {
        let mut number_of = |key: SeriesKey| match numbers.get(&key) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.keys.len()).expect("fewer series than 2^32 fit into memory");
                self.keys.push(key.clone());
                numbers.insert(key, number);
                number
            }
        };
        let errored = facts.errored.into_iter().map(&mut number_of).collect();
        let unmeasured = facts.unmeasured.into_iter().map(&mut number_of).collect();
        let mut points = Vec::with_capacity(facts.points.len());
        for point in facts.points {
            points.push(IndexedPoint {
                key: number_of(point.key),
                revision: point.revision,
                better: point.better,
                gate: point.gate,
                samples: point.samples,
                best: point.best,
                median: point.median,
                floors: point.floors,
            });
        }
        // The sides of one series next to one another, to be found quickly.
        points.sort_by_key(|point: &IndexedPoint| (point.key, point.revision));
        self.machines.insert(facts.machine.to_string(), facts.machine_description);
        IndexedRun {
            run: facts.run,
            result_time: facts.result_time,
            seed: facts.seed,
            imported: facts.imported,
            machine: facts.machine,
            rustc: facts.rustc,
            revisions: facts.revisions,
            errored,
            unmeasured,
            points,
        }
    }
}

/// Reads files, as many at a time as there are CPUs; the answers come in the order of the files.
fn read_all(store: &Store, files: &[&Listed]) -> Vec<Result<Facts, String>> {
    in_parallel(files, |file| store.read(&file.name).and_then(|bytes| Facts::read(&bytes)))
}
