//! A folder that criterion wrote: `…/ID/new/{benchmark.json,sample.json,estimates.json}`.

use serde::Deserialize;

use super::{Record, Records};
use crate::stats::quantile::{median, sorted};

/// The files of one benchmark's `new` directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folder {
    /// The directory, for messages.
    pub path: String,
    /// `benchmark.json`.
    pub benchmark: Vec<u8>,
    /// `sample.json`.
    pub sample: Option<Vec<u8>>,
    /// `estimates.json`.
    pub estimates: Option<Vec<u8>>,
}

#[derive(Deserialize)]
struct BenchmarkFile {
    title: Option<String>,
    full_id: String,
}

#[derive(Deserialize)]
struct SampleFile {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct EstimatesFile {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// The records of these folders, all of one commit. One process is one sample: the median of its times an iteration.
pub fn records(folders: &[Folder], commit: &str, timestamp: i64) -> Records {
    let mut records = Records::default();
    for folder in folders {
        match record(folder, commit, timestamp) {
            Ok(record) => records.records.push(record),
            Err(why) => records.left_out.push(format!("{}: {why}", folder.path)),
        }
    }
    records.records.sort_by(|a, b| a.benchmark.cmp(&b.benchmark));
    records
}

fn record(folder: &Folder, commit: &str, timestamp: i64) -> Result<Record, String> {
    let shape = |file: &'static str| {
        move |error: serde_json::Error| format!("{file} is not what criterion writes: {error}")
    };
    let benchmark: BenchmarkFile =
        serde_json::from_slice(&folder.benchmark).map_err(shape("benchmark.json"))?;
    let value = match (&folder.sample, &folder.estimates) {
        (Some(sample), _) => {
            let sample: SampleFile = serde_json::from_slice(sample).map_err(shape("sample.json"))?;
            let times: Vec<f64> = sample
                .times
                .iter()
                .zip(&sample.iters)
                .map(|(time, iters)| time / iters)
                .filter(|time| time.is_finite())
                .collect();
            median(&sorted(&times)).ok_or("sample.json holds no times")?
        }
        (None, Some(estimates)) => {
            let estimates: EstimatesFile =
                serde_json::from_slice(estimates).map_err(shape("estimates.json"))?;
            estimates.median.point_estimate
        }
        (None, None) => return Err("there is neither sample.json nor estimates.json".to_owned()),
    };
    if !value.is_finite() {
        return Err("the median is not a finite number".to_owned());
    }
    Ok(Record {
        commit: commit.to_owned(),
        timestamp,
        benchmark: benchmark.title.filter(|title| !title.is_empty()).unwrap_or(benchmark.full_id),
        metric: "latency".to_owned(),
        unit: "ns".to_owned(),
        better: None,
        values: vec![value],
        mark: false,
        machine: None,
        tolerance: None,
    })
}
