//! The bytes of the index: little-endian numbers and a table of texts, with a digest at the end.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Index, IndexedPoint, IndexedReport, IndexedRun};
use crate::history::facts::RevisionFacts;
use crate::history::key::SeriesKey;
use crate::history::store::Listed;
use crate::history::tolerance::{Floors, MetricKind};
use crate::suite::metric::Better;

/// Raised whenever the layout, or what is taken from a report, changes: an older index is then made again.
const MAGIC: &[u8; 16] = b"benchgate idx 5\n";
const DIGEST: usize = 8;
/// A number that stands for "none", where there is one.
const NO_TIME: i64 = i64::MIN;

pub(super) fn encode(index: &Index) -> Vec<u8> {
    let mut texts = Texts::default();
    let mut body = Vec::new();
    let out = &mut body;
    put_len(out, index.keys.len());
    for key in &index.keys {
        for text in key.texts() {
            put_u32(out, texts.number(text));
        }
    }
    put_len(out, index.machines.len());
    for (machine, description) in &index.machines {
        put_u32(out, texts.number(machine));
        put_u32(out, texts.number(description));
    }
    put_len(out, index.reports.len());
    for report in &index.reports {
        put_u32(out, texts.number(&report.file.name));
        out.extend(report.file.size.to_le_bytes());
        match &report.content {
            Err(why) => {
                out.push(0);
                put_u32(out, texts.number(why));
            }
            Ok(run) => {
                out.push(1);
                put_run(out, run, &mut texts);
            }
        }
    }
    let mut bytes = MAGIC.to_vec();
    put_len(&mut bytes, texts.list.len());
    for text in &texts.list {
        put_len(&mut bytes, text.len());
        bytes.extend(text.as_bytes());
    }
    bytes.extend(body);
    bytes.extend(digest(&bytes));
    bytes
}

fn put_run(out: &mut Vec<u8>, run: &IndexedRun, texts: &mut Texts) {
    out.extend(run.run);
    out.extend(run.result_time.to_le_bytes());
    out.extend(run.seed.to_le_bytes());
    out.push(u8::from(run.imported));
    put_u32(out, texts.number(&run.machine));
    put_u32(out, texts.number(&run.rustc));
    for keys in [&run.errored, &run.unmeasured] {
        put_len(out, keys.len());
        keys.iter().for_each(|key| put_u32(out, *key));
    }
    put_len(out, run.revisions.len());
    for revision in &run.revisions {
        put_u32(out, texts.number(&revision.name));
        put_u32(out, texts.number(&revision.commit));
        out.push(u8::from(revision.dirty));
        out.extend(revision.committed_at.unwrap_or(NO_TIME).to_le_bytes());
    }
    put_len(out, run.points.len());
    for point in &run.points {
        put_u32(out, point.key);
        out.push(point.revision);
        out.push(u8::from(point.better == Better::Higher) | u8::from(point.gate) << 1);
        let kind = MetricKind::ALL.iter().position(|kind| *kind == point.floors.metric_kind);
        out.push(kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0));
        put_u32(out, point.samples);
        for number in [point.best, point.median, point.floors.absolute, point.floors.relative_percent] {
            out.extend(number.to_le_bytes());
        }
    }
}

/// The index of these bytes; `None` when they are of another version, or not what was written.
pub(super) fn decode(bytes: &[u8]) -> Option<Index> {
    let (content, written) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    if digest(content) != written {
        return None;
    }
    let mut input = Input(content.strip_prefix(MAGIC)?);
    let mut texts: Vec<Arc<str>> = Vec::new();
    for _ in 0..input.u32()? {
        let len = input.u32()? as usize;
        texts.push(Arc::from(std::str::from_utf8(input.take(len)?).ok()?));
    }
    let text = |number: u32| texts.get(number as usize).cloned();
    let mut index = Index::default();
    for _ in 0..input.u32()? {
        let mut key: [String; 11] = Default::default();
        for slot in &mut key {
            *slot = text(input.u32()?)?.to_string();
        }
        index.keys.push(SeriesKey::from_texts(key)?);
    }
    for _ in 0..input.u32()? {
        index.machines.insert(text(input.u32()?)?.to_string(), text(input.u32()?)?.to_string());
    }
    for _ in 0..input.u32()? {
        let file = Listed { name: text(input.u32()?)?.to_string(), size: input.u64()? };
        let content = match input.u8()? {
            0 => Err(text(input.u32()?)?.to_string()),
            _ => Ok(run(&mut input, &text, index.keys.len())?),
        };
        index.reports.push(IndexedReport { file, content });
    }
    input.0.is_empty().then_some(index)
}

fn run(input: &mut Input<'_>, text: &impl Fn(u32) -> Option<Arc<str>>, keys: usize) -> Option<IndexedRun> {
    let mut run = IndexedRun {
        run: input.take(16)?.try_into().ok()?,
        result_time: input.i64()?,
        seed: input.u64()?,
        imported: input.u8()? != 0,
        machine: text(input.u32()?)?,
        rustc: text(input.u32()?)?,
        errored: Vec::new(),
        unmeasured: Vec::new(),
        revisions: Vec::new(),
        points: Vec::new(),
    };
    for list in [&mut run.errored, &mut run.unmeasured] {
        for _ in 0..input.u32()? {
            list.push(Some(input.u32()?).filter(|&key| (key as usize) < keys)?);
        }
    }
    for _ in 0..input.u32()? {
        run.revisions.push(RevisionFacts {
            name: text(input.u32()?)?,
            commit: text(input.u32()?)?,
            dirty: input.u8()? != 0,
            committed_at: Some(input.i64()?).filter(|&time| time != NO_TIME),
        });
    }
    for _ in 0..input.u32()? {
        let key = input.u32()?;
        let revision = input.u8()?;
        if keys <= key as usize || run.revisions.len() <= usize::from(revision) {
            return None;
        }
        let flags = input.u8()?;
        let metric_kind = *MetricKind::ALL.get(usize::from(input.u8()?))?;
        run.points.push(IndexedPoint {
            key,
            revision,
            better: if flags & 1 == 0 { Better::Lower } else { Better::Higher },
            gate: flags & 2 != 0,
            samples: input.u32()?,
            best: input.f64()?,
            median: input.f64()?,
            floors: Floors { metric_kind, absolute: input.f64()?, relative_percent: input.f64()? },
        });
    }
    Some(run)
}

/// Notices torn and flipped bytes; the index is a cache of our own, so nobody needs to be kept from forging it, and a
/// cryptographic hash would take longer than all the rest of the reading.
fn digest(bytes: &[u8]) -> [u8; DIGEST] {
    let mut hash = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    hash.to_le_bytes()
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    put_u32(out, u32::try_from(len).expect("an index of 2^32 things does not fit into memory"));
}

/// Each text once, by number.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.list.len()).expect("an index of 2^32 texts does not fit into memory");
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// What is left to read. Nothing in it is trusted.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }
}
