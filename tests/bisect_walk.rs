//! The walk of a bisect with scripted commits: each has a latency, or cannot be built.

#[path = "report_support/mod.rs"]
mod support;

use cargo_benchgate::bisect::report::{NamedCommit, terminal};
use cargo_benchgate::bisect::walk::{Prober, Walk, walk};
use cargo_benchgate::bisect::{Answer, BisectReport, Finding, Probe};
use cargo_benchgate::error::{Error, ExitCode};
use cargo_benchgate::report::assemble;
use cargo_benchgate::report::model::Report;
use cargo_benchgate::revision::{Commit, LineCommit, Repository};
use cargo_benchgate::suite::metric::{Better, Metric};
use cargo_benchgate::suite::settings::MetricSettings;
use cargo_benchgate::verdict::evidence::{Evidence, Presence, Side};
use cargo_benchgate::verdict::{RunContext, judge_run};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use support::{header, identity, run, side};

#[path = "common/repository.rs"]
mod repository;
use repository::{TestRepository, need_git};

/// Real commits with made-up latencies; what is asked is written down.
struct Script {
    line: Vec<LineCommit>,
    /// By place; `None` does not build.
    latencies: Vec<Option<f64>>,
    asked: Vec<usize>,
    noise: f64,
    rng: ChaCha8Rng,
    interrupt_after: usize,
    judged: Vec<Option<u32>>,
    limits: Vec<f64>,
    /// What the last judgement comes to, in place of a comparison.
    confirmation: Confirmation,
    better: Better,
}

enum Confirmation {
    Measured,
    Identical,
    Fails(fn() -> Error),
}

impl Script {
    fn new(repository: &TestRepository, latencies: &[Option<f64>]) -> Self {
        let ids: Vec<String> =
            (0..latencies.len()).map(|at| repository.commit(&format!("commit {at}"))).collect();
        let repository = Repository::discover(repository.root()).expect("it is one");
        let commit = |spec: &String| repository.resolve(spec).expect("it was just made");
        let line =
            repository.line(&commit(&ids[0]), &commit(ids.last().expect("there are some"))).expect("a line");
        assert_eq!(line.len(), latencies.len());
        let rng = ChaCha8Rng::seed_from_u64(7);
        Self {
            line,
            latencies: latencies.to_vec(),
            asked: Vec::new(),
            noise: 0.02,
            rng,
            interrupt_after: usize::MAX,
            judged: Vec::new(),
            limits: Vec::new(),
            confirmation: Confirmation::Measured,
            better: Better::Lower,
        }
    }

    fn place(&self, commit: &Commit) -> usize {
        self.line.iter().position(|it| it.commit.id == commit.id).expect("it is of the line")
    }

    fn samples(&mut self, name: &str, commit: &Commit, count: u32) -> Result<Side, Error> {
        let place = self.place(commit);
        let Some(latency) = self.latencies[place] else {
            return Err(Error::Execution(format!("commit {place} does not build")));
        };
        let metric = self.metric();
        let values = (0..count)
            .map(|_| latency * (1.0 + self.noise * (self.rng.next_u64() as f64 / u64::MAX as f64 - 0.5)));
        let runs =
            values.enumerate().map(|(at, value)| run(at as u64 * 2, &[(metric.clone(), value)])).collect();
        Ok(Side { runs, ..side(name, &[]) })
    }

    fn metric(&self) -> Metric {
        match self.better {
            Better::Lower => Metric::Latency,
            Better::Higher => Metric::Own("speed".into()),
        }
    }

    fn report(&mut self, sides: Vec<Side>, limit: f64) -> Report {
        let mut evidence: Evidence = support::evidence(identity("parse", "json"), sides);
        let settings = evidence.settings.metrics.remove(&Metric::Latency).expect("the support has it");
        let settings = MetricSettings { better: self.better, ..settings };
        evidence.settings.metrics.insert(self.metric(), settings);
        for settings in evidence.settings.metrics.values_mut() {
            settings.max_percent = limit;
        }
        let judged = judge_run(std::slice::from_ref(&evidence), &RunContext::default());
        assemble(header(), vec![evidence], judged.benchmarks, judged.summary, judged.exit)
    }

    fn walk(&mut self, known: &[Probe]) -> Result<BisectReport, Error> {
        let line = self.line.clone();
        let asked = Walk { metric: None, threshold_percent: 5.0, samples: 20, line: &line, known };
        walk(&asked, self)
    }

    fn named(&self, place: usize) -> NamedCommit {
        (&self.line[place].commit).into()
    }
}

impl Prober for Script {
    fn judge(
        &mut self,
        base: &Commit,
        head: &Commit,
        limit_percent: f64,
        samples: Option<u32>,
    ) -> Result<Report, Error> {
        self.judged.push(samples);
        self.limits.push(limit_percent);
        if 1 < self.judged.len() {
            match self.confirmation {
                Confirmation::Measured => {}
                Confirmation::Identical => {
                    let mut report = self.report(Vec::new(), limit_percent);
                    report.benchmarks[0].presence = Presence::Unchanged;
                    return Ok(report);
                }
                Confirmation::Fails(error) => return Err(error()),
            }
        }
        let count = samples.unwrap_or(30);
        let sides = vec![self.samples("base", base, count)?, self.samples("head", head, count)?];
        Ok(self.report(sides, limit_percent))
    }

    fn probe(&mut self, ends: [&Commit; 2], middle: &Commit, samples: u32) -> Result<Report, Error> {
        let place = self.place(middle);
        self.asked.push(place);
        if self.interrupt_after < self.asked.len() {
            return Err(Error::Interrupted);
        }
        let sides = vec![
            self.samples("base", ends[0], samples)?,
            self.samples("head", ends[1], samples)?,
            self.samples("ref1", middle, samples)?,
        ];
        Ok(self.report(sides, 10.0))
    }

    fn next(&mut self, _: &Commit, _: u32) {}

    fn merged(&mut self, _: &Commit, _: &LineCommit) -> Vec<[NamedCommit; 2]> {
        Vec::new()
    }

    fn probed(&mut self, _: &Probe) -> Result<(), Error> {
        Ok(())
    }
}

fn step_at(first: usize, places: usize) -> Vec<Option<f64>> {
    (0..places).map(|at| Some(if first <= at { 110.0 } else { 100.0 })).collect()
}

#[test]
fn the_first_slow_commit_is_found_wherever_it_is_and_confirmed_against_its_parent() {
    need_git!();
    for first in [1, 5, 11] {
        let repository = TestRepository::new();
        let mut script = Script::new(&repository, &step_at(first, 12));
        let report = script.walk(&[]).expect("it walks through");
        let Answer::Found { first: found, parent, confirmed, .. } = &report.answer else {
            panic!("{:?}", report.answer)
        };
        assert_eq!((found, parent), (&script.named(first), &script.named(first - 1)));
        assert_eq!(*confirmed, Some(true));
        assert!(script.asked.len() <= 4, "{:?}", script.asked);
        assert_eq!(report.answer.exit_code(), ExitCode::Success);
        let text = terminal(&report);
        assert!(text.ends_with(&format!("first slow commit: {} commit {first}\n", found.commit)), "{text}");
    }
}

#[test]
fn a_commit_that_does_not_build_is_stepped_over() {
    need_git!();
    let repository = TestRepository::new();
    let mut latencies = step_at(6, 12);
    latencies[5] = None;
    latencies[4] = None;
    let mut script = Script::new(&repository, &latencies);
    let report = script.walk(&[]).expect("it walks through");
    let Answer::Between { after, candidates } = &report.answer else { panic!("{:?}", report.answer) };
    assert_eq!(after, &script.named(3));
    assert_eq!(candidates, &[script.named(4), script.named(5), script.named(6)]);
    assert_eq!(report.answer.exit_code(), ExitCode::Execution);
    let skipped =
        report.probes.iter().filter(|probe| matches!(probe.finding, Finding::Skipped { .. })).count();
    assert_eq!(skipped, 2);
    assert!(terminal(&report).contains("does not build"));
}

#[test]
fn one_unbuildable_commit_beside_the_step_does_not_hide_it() {
    need_git!();
    let repository = TestRepository::new();
    let mut latencies = step_at(6, 12);
    latencies[7] = None;
    let mut script = Script::new(&repository, &latencies);
    let report = script.walk(&[]).expect("it walks through");
    assert!(matches!(&report.answer, Answer::Found { first, .. } if *first == script.named(6)));
}

#[test]
fn nothing_to_find_where_bad_is_as_fast_as_good() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &[Some(100.0), Some(300.0), Some(100.0)]);
    let report = script.walk(&[]).expect("it walks through");
    assert!(matches!(report.answer, Answer::NothingToFind { .. }), "{:?}", report.answer);
    assert_eq!(report.answer.exit_code(), ExitCode::Usage);
    assert!(script.asked.is_empty());
}

#[test]
fn ends_that_cannot_be_told_apart_are_said_to_be_so() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &[Some(100.0), Some(100.0), Some(105.0)]);
    script.noise = 0.4;
    let report = script.walk(&[]).expect("it walks through");
    assert!(matches!(report.answer, Answer::Undecided { .. }), "{:?}", report.answer);
    assert_eq!(report.answer.exit_code(), ExitCode::Execution);
    assert_eq!(script.judged, [None, Some(120)], "the ends had a second look");
}

#[test]
fn a_ramp_is_called_spread_over_several_commits() {
    need_git!();
    let repository = TestRepository::new();
    let latencies: Vec<Option<f64>> = (0..9).map(|at| Some(100.0 + 4.0 * f64::from(at))).collect();
    let mut script = Script::new(&repository, &latencies);
    let report = script.walk(&[]).expect("it walks through");
    match &report.answer {
        Answer::Found { confirmed, .. } => assert_eq!(*confirmed, Some(false)),
        // The commit exactly half way may stay undecided.
        answer => assert!(matches!(answer, Answer::Between { .. }), "{answer:?}"),
    }
    assert!(!terminal(&report).is_empty());
}

#[test]
fn probes_of_an_interrupted_walk_are_not_made_again() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &step_at(6, 33));
    let whole = script.walk(&[]).expect("it walks through");
    let first_walk = script.asked.len();
    script.asked.clear();
    let again = script.walk(&whole.probes[..2]).expect("it walks through");
    assert_eq!(again.answer, Answer::clone(&again.answer));
    assert!(matches!(&again.answer, Answer::Found { first, .. } if *first == script.named(6)));
    assert_eq!(script.asked.len(), first_walk - 2);
    script.interrupt_after = 1;
    script.asked.clear();
    assert!(matches!(script.walk(&[]), Err(Error::Interrupted)));
}

#[test]
fn a_probe_that_stays_undecided_is_made_again_with_twice_the_samples_then_skipped() {
    need_git!();
    let repository = TestRepository::new();
    // Half way on the logarithmic scale between the ends.
    let middle = (100.0_f64 * 110.0).sqrt();
    let mut script = Script::new(&repository, &[Some(100.0), Some(middle), Some(110.0), Some(110.0)]);
    script.noise = 0.05;
    let report = script.walk(&[]).expect("it walks through");
    let probe = report.probes.iter().find(|probe| probe.commit == script.named(1)).expect("it was probed");
    assert_eq!((&probe.finding, probe.looks, probe.rounds), (&Finding::Undecided, 3, 40));
    assert!(matches!(report.answer, Answer::Between { .. }));
    assert!(
        (report.wrong_turn_at_most - 0.005 * f64::from(report.probes.iter().map(|it| it.looks).sum::<u32>()))
            .abs()
            < 1e-12
    );
}

#[test]
fn an_answer_whose_program_is_its_parents_is_not_confirmed_and_says_why() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &step_at(2, 5));
    script.confirmation = Confirmation::Identical;
    let report = script.walk(&[]).expect("it walks through");
    let Answer::Found { step, confirmed, .. } = &report.answer else { panic!("{:?}", report.answer) };
    assert_eq!((step, *confirmed), (&None, Some(false)));
    let text = terminal(&report);
    assert!(text.contains("its program is identical to its parent's"), "{text}");
    assert!(!text.contains("less than half"), "nothing was measured: {text}");
}

#[test]
fn an_answer_that_could_not_be_measured_again_says_why_and_a_fault_of_the_tool_is_passed_on() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &step_at(2, 5));
    script.confirmation = Confirmation::Fails(|| Error::Execution("the disk is full".into()));
    let report = script.walk(&[]).expect("it walks through");
    assert!(matches!(&report.answer, Answer::Found { confirmed: None, why: Some(_), .. }));
    assert!(terminal(&report).contains("the disk is full"));
    script.judged.clear();
    script.confirmation = Confirmation::Fails(|| Error::Internal("a fault".into()));
    assert!(matches!(script.walk(&[]), Err(Error::Internal(_))));
}

#[test]
fn half_of_a_change_is_half_of_it_where_more_is_better_too() {
    need_git!();
    for (better, slow, half) in
        [(Better::Lower, 400.0, 100.0), (Better::Higher, 25.0, 50.0), (Better::Higher, 1.0, 90.0)]
    {
        let repository = TestRepository::new();
        let latencies = [100.0, 100.0, slow, slow].map(Some);
        let mut script = Script::new(&repository, &latencies);
        script.better = better;
        let report = script.walk(&[]).expect("it walks through");
        assert!(matches!(report.answer, Answer::Found { confirmed: Some(true), .. }), "{:?}", report.answer);
        let asked = script.limits.last().expect("the answer was measured again");
        assert!((asked - half).abs() < 2.0, "{better:?} to {slow}: {asked}");
    }
}

#[test]
fn largest_steps_are_between_commits_that_are_neighbours_on_the_line() {
    need_git!();
    let repository = TestRepository::new();
    // Up by 60, down by 40, and up again: by their changes, no two neighbours would stand together.
    let latencies = [100.0, 100.0, 120.0, 160.0, 165.0, 170.0, 190.0, 200.0].map(Some);
    let mut script = Script::new(&repository, &latencies);
    script.noise = 0.001;
    let mut report = script.walk(&[]).expect("it walks through");
    let Answer::Found { confirmed, .. } = &mut report.answer else { panic!("{:?}", report.answer) };
    *confirmed = Some(false);
    let probe = |at: usize, percent: f64| Probe {
        place: at,
        change_percent: Some(percent),
        commit: script.named(at),
        ..report.probes[0].clone()
    };
    let probes = vec![probe(4, 10.0), probe(2, 60.0), probe(6, 30.0)];
    report.probes = probes;
    let text = terminal(&report);
    let step = |from: usize, to: usize| {
        let short = |at: usize| script.named(at).commit[..10].to_owned();
        format!("from {} to {}", short(from), short(to))
    };
    assert!(text.contains(&step(0, 2)) && text.contains(&step(4, 6)), "{text}");
    assert!(!text.contains(&step(2, 4)), "that one got better: {text}");
}

#[test]
fn a_probe_of_another_metric_is_made_again() {
    need_git!();
    let repository = TestRepository::new();
    let mut script = Script::new(&repository, &step_at(6, 33));
    let mut probes = script.walk(&[]).expect("it walks through").probes;
    let first_walk = script.asked.len();
    probes.iter_mut().for_each(|probe| probe.metric = Some(Metric::CpuTotal));
    script.asked.clear();
    script.walk(&probes).expect("it walks through");
    assert_eq!(script.asked.len(), first_walk);
}
