//! Error rates on synthetic samples with fixed seeds. `cargo xtask calibrate` measures all of them with many more trials;
//! these few cells hold the constants in place while the code changes. No clock, no machine noise: the same every time.

mod verdict_support;

use cargo_benchgate::suite::settings::{JudgeSettings, Method, Pairing, Stop};
use cargo_benchgate::verdict::outcome::Verdict;
use verdict_support::{fixed, judge_one, latency, metric, scattered, settled};

const TRIALS: usize = 400;

/// Standard normal numbers from evenly spread ones (Box and Muller).
fn normals(count: usize, turn: u64) -> Vec<f64> {
    let (angles, sizes) =
        (scattered(0.5, 100.0, count, 2 * turn), scattered(0.5, 100.0, count, 2 * turn + 1));
    let normal = |(angle, size): (&f64, &f64)| {
        (-2.0 * size.max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    };
    angles.iter().zip(&sizes).map(normal).collect()
}

/// What disturbs the runs.
#[derive(Clone, Copy)]
enum Noise {
    /// Lognormal with that coefficient of variation, each run on its own.
    Alone(f64),
    /// The machine gets 30 % slower at that run of each side; 5 % of noise.
    Step(usize),
}

/// Shares in per cent of 400 trials, and the mean number of samples.
struct Rates {
    regression: f64,
    improved: f64,
    pass: f64,
    samples: f64,
}

/// Head is slower by that ratio.
fn rates(judge: &JudgeSettings, noise: Noise, count: usize, ratio: f64) -> Rates {
    let (mut regression, mut improved, mut pass, mut samples) = (0, 0, 0, 0);
    for trial in 0..TRIALS {
        let side = |turn: u64, centre: f64| -> Vec<f64> {
            let cv: f64 = match noise {
                Noise::Alone(cv) => cv,
                Noise::Step(_) => 0.05,
            };
            let sigma = (1.0 + cv * cv).ln().sqrt();
            let slower = |index: usize| match noise {
                Noise::Step(at) if at <= index => 1.3,
                _ => 1.0,
            };
            let normals = normals(count, turn);
            normals.iter().enumerate().map(|(index, z)| centre * slower(index) * (sigma * z).exp()).collect()
        };
        let (base, head) = (side(2 * trial as u64, 100.0), side(2 * trial as u64 + 1, 100.0 * ratio));
        let judged = judge_one(latency(judge.clone(), metric(10.0), &base, &head));
        let row = &judged.benchmarks[0].comparisons[0];
        match row.verdict {
            Verdict::Regression => regression += 1,
            Verdict::Improved => improved += 1,
            Verdict::Pass => pass += 1,
            _ => {}
        }
        samples += row.samples[0];
    }
    let share = |count: usize| 100.0 * count as f64 / TRIALS as f64;
    Rates {
        regression: share(regression),
        improved: share(improved),
        pass: share(pass),
        samples: samples as f64 / TRIALS as f64,
    }
}

/// Within 4 standard errors of 400 trials (and of the 3000 behind the published number).
fn close(got: f64, want: f64, what: &str) {
    let share = (want / 100.0).clamp(0.005, 0.995);
    let slack = 400.0 * (share * (1.0 - share) * (1.0 / TRIALS as f64 + 1.0 / 3000.0)).sqrt();
    assert!((got - want).abs() <= slack, "{what}: got {got} %, want {want} % within {slack:.1}");
}

#[test]
fn the_ten_rows_have_their_published_rates() {
    for (cv, count, ratio, want) in [
        (0.05, 30, 1.08, 0.2),
        (0.05, 30, 1.10, 3.8),
        (0.05, 30, 1.12, 27.7),
        (0.05, 30, 1.15, 88.3),
        (0.10, 10, 1.25, 77.5),
    ] {
        let got = rates(&fixed(), Noise::Alone(cv), count, ratio);
        close(got.regression, want, &format!("CV {cv} n {count} x{ratio}"));
    }
    let same = rates(&fixed(), Noise::Alone(0.25), 10, 1.0);
    close(same.regression, 0.6, "equal sides called a regression");
    close(same.improved, 0.3, "equal sides called improved");
    let open = rates(&fixed(), Noise::Alone(0.10), 10, 1.0);
    close(100.0 - open.pass - open.regression - open.improved, 47.2, "equal sides undecided at 10 % noise");
}

#[test]
fn the_default_judge_has_its_published_rates_at_and_around_the_limit() {
    for (ratio, regression, pass, samples) in [
        (1.0, 0.0, 100.0, 8.9),
        (1.05, 0.0, 97.9, 21.4),
        (1.1, 1.0, 4.8, 57.8),
        (1.15, 87.3, 0.0, 34.3),
        (1.2, 100.0, 0.0, 11.7),
    ] {
        let got = rates(&settled(), Noise::Alone(0.05), 60, ratio);
        close(got.regression, regression, &format!("regression at x{ratio}"));
        close(got.pass, pass, &format!("pass at x{ratio}"));
        assert!(
            (got.samples - samples).abs() <= 0.1 * samples,
            "x{ratio}: {} runs, not {samples}",
            got.samples
        );
    }
}

#[test]
fn the_rank_judge_has_its_published_rates() {
    let judge = JudgeSettings { method: Method::Rank, ..settled() };
    for (ratio, regression, pass) in [(1.0, 0.0, 100.0), (1.1, 1.0, 4.9), (1.15, 96.5, 0.0)] {
        let got = rates(&judge, Noise::Alone(0.05), 60, ratio);
        close(got.regression, regression, &format!("regression at x{ratio}"));
        close(got.pass, pass, &format!("pass at x{ratio}"));
    }
}

#[test]
fn a_step_of_the_machine_blinds_the_two_sides_on_their_own_but_not_the_pairs() {
    let paired = JudgeSettings { pairing: Pairing::Auto, stop: Stop::Fixed, ..fixed() };
    close(rates(&fixed(), Noise::Step(15), 30, 1.2).regression, 0.0, "alone");
    close(rates(&paired, Noise::Step(15), 30, 1.2).regression, 100.0, "pairs");
    close(rates(&paired, Noise::Step(15), 30, 1.15).regression, 86.0, "pairs at +15 %");
    close(rates(&settled(), Noise::Step(12), 60, 1.15).regression, 84.9, "looks");
    close(rates(&settled(), Noise::Step(12), 60, 1.1).regression, 0.7, "looks at the limit");
}
