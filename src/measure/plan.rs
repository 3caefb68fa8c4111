//! What is to be measured: the input of the driver.

use std::path::PathBuf;
use std::time::Duration;

use crate::harness::HarnessKind;
use crate::harness::contract::{CommandSpec, Executable, ResolvedLaunch};
use crate::suite::identity::BenchmarkIdentity;
use crate::suite::settings::{SampleCount, Sampling};
use crate::verdict::evidence::Stage;

/// Fewer samples than this are never called a measurement that `max_time` cut short.
pub const LEAST_SAMPLES: u32 = 5;

/// One measuring phase.
#[derive(Debug, Clone)]
pub struct MeasurePlan {
    /// The seed of every order.
    pub seed: u64,
    /// The stage the samples belong to; each has orders of its own.
    pub stage: Stage,
    /// The sequence number of the first unit run.
    pub first_sequence: u64,
    /// The time all of it may take, warm-up included.
    pub max_time: Option<Duration>,
    /// The benchmarks, in any stable order.
    pub benchmarks: Vec<PlannedBenchmark>,
}

/// One benchmark of the plan.
#[derive(Debug, Clone)]
pub struct PlannedBenchmark {
    /// Its name, which its order of revisions is drawn from.
    pub identity: BenchmarkIdentity,
    /// What measures it.
    pub harness: HarnessKind,
    /// How often it runs.
    pub sampling: Sampling,
    /// Samples a side below which it counts as not measured when `max_time` ends it.
    pub min_samples: u32,
    /// Once nothing is left to compare, head alone runs on to so many samples, as far as `max_time` allows; 0 is off.
    pub head_alone_until: u32,
    /// Its sides, by the place of the revision in the report: base, head, further ones; or head alone.
    /// `None` where it is not measured.
    pub sides: Vec<Option<SidePlan>>,
    /// How its unit runs are made, where that is not one process of one revision for it alone.
    pub unit: UnitPlan,
}

/// How the unit runs of a benchmark are made. By default each is one process of one revision that measures this
/// benchmark alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnitPlan {
    /// Benchmarks with the same number come out of one process, which measures everything its program has. They have the
    /// same program, launch and sides.
    pub together: Option<usize>,
    /// One process takes turns between the programs of base and head, which are started by paths of their own, base first.
    pub lockstep: Option<Box<[Executable; 2]>>,
    /// Whether instructions are counted.
    pub counting: Counting,
}

/// How instructions are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Counting {
    /// Not at all, or by the harness itself.
    #[default]
    Off,
    /// By the processor, beside the times of the whole process.
    Hardware,
    /// By callgrind in runs that tell nothing else.
    Callgrind {
        /// About how long one iteration takes without callgrind, ns; the same for all sides.
        latency_ns: Option<f64>,
    },
}

/// One revision's part of a benchmark.
#[derive(Debug, Clone)]
pub struct SidePlan {
    /// The number the executor knows the revision by.
    pub revision: usize,
    /// The program.
    pub executable: Executable,
    /// How it is started.
    pub launch: ResolvedLaunch,
    /// The work of one unit run, where the suite states one.
    pub work: Option<WorkPlan>,
    /// A directory that is empty when every unit run begins, as far as `prepare` leaves it so.
    pub workdir: Option<PathBuf>,
    /// Commands of the user's before every unit run, outside the timing.
    pub prepare: Vec<CommandSpec>,
}

/// The work of one unit run.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkPlan {
    /// The size of this file in bytes, read before every unit run, outside the timing.
    File(PathBuf),
    /// A constant amount.
    Value(f64),
}

impl PlannedBenchmark {
    /// The places of the sides that run.
    pub fn measured_sides(&self) -> Vec<usize> {
        (0..self.sides.len()).filter(|&side| self.sides[side].is_some()).collect()
    }

    /// The place of head: the second of several sides, the only one of one.
    pub fn head(&self) -> usize {
        usize::from(1 < self.sides.len())
    }

    /// Samples a side after which it stops whatever the data say.
    pub fn most_samples(&self) -> u32 {
        match self.sampling.samples {
            SampleCount::Fixed(count) => count,
            SampleCount::Adaptive { max, .. } => max,
        }
    }

    /// Samples a side before the stop rule is asked.
    pub fn least_samples(&self) -> u32 {
        match self.sampling.samples {
            SampleCount::Fixed(count) => count,
            SampleCount::Adaptive { min, max } => min.max(self.min_samples).min(max),
        }
    }

    /// Samples a side without which it counts as not measured when the time is over.
    pub fn needed_samples(&self) -> u32 {
        let least = match self.sampling.samples {
            SampleCount::Fixed(_) => self.min_samples,
            SampleCount::Adaptive { .. } => self.least_samples(),
        };
        least.max(LEAST_SAMPLES).min(self.most_samples())
    }
}
