//! What is told of a measuring phase while it goes on.

use std::time::Duration;

use crate::verdict::evidence::Stage;

/// Hears of progress. It is called between rounds only, never while a program runs.
pub trait Observer {
    /// A round is over.
    fn round_finished(&mut self, _progress: &Progress) {}

    /// `max_time` cannot give every benchmark its least number of samples. Said once, after the first round.
    fn time_is_short(&mut self, _needed: Duration, _available: Duration) {}
}

impl Observer for () {}

/// The parts of a measuring phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Runs that are thrown away.
    WarmUp,
    /// The rounds.
    Rounds,
    /// Head alone, for budgets on percentiles.
    HeadAlone,
    /// One count of instructions a side.
    Counting,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Screen or confirm.
    pub stage: Stage,
    /// The part.
    pub part: Part,
    /// Rounds of this part that are over.
    pub rounds: u32,
    /// All benchmarks.
    pub benchmarks: usize,
    /// Those that need no more rounds, failed ones included.
    pub finished: usize,
    /// Those that failed.
    pub failed: usize,
    /// Since the phase began.
    pub elapsed: Duration,
    /// The limit of it.
    pub max_time: Option<Duration>,
    /// What the least numbers of samples will still take, as far as the rounds so far tell.
    pub least_left: Duration,
}
