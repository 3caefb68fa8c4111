//! The statistics against expected values that were computed outside Rust (`fixtures/golden/stats`).
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking; exact answers are part of the contract"
)]

use cargo_benchgate::stats::bca::{Bca, Convention, leave_one_out_medians};
use cargo_benchgate::stats::cliffs_delta::Dominance;
use cargo_benchgate::stats::correlation::{is_correlated, spearman};
use cargo_benchgate::stats::describe::{mad, mean, standard_deviation};
use cargo_benchgate::stats::draws::{Draws, Taken};
use cargo_benchgate::stats::fences::Fences;
use cargo_benchgate::stats::law::ChangeLaw;
use cargo_benchgate::stats::mann_whitney::{self, MannWhitney};
use cargo_benchgate::stats::median_law::MedianLaw;
use cargo_benchgate::stats::multiple::{benjamini_hochberg, holm};
use cargo_benchgate::stats::pair_law::{PlainLaw, SmoothLaw};
use cargo_benchgate::stats::quantile::{iqr, median, quantile, sorted};
use cargo_benchgate::stats::ratio_law::RatioLaw;
use cargo_benchgate::stats::signed_rank::{self, SignedRank};
use cargo_benchgate::verdict::outcome::EffectSize;
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/fixtures/golden/stats/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let cases = value["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len() as u64, value["generator"]["count"].as_u64().unwrap(), "{file}");
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn close(got: f64, want: f64, relative: f64, absolute: f64, what: &str) {
    assert!(
        (got - want).abs() <= (relative * want.abs()).max(absolute),
        "{what}: got {got:e}, want {want:e}"
    );
}

#[test]
fn golden_quantiles_fences_and_moments_are_reproduced() {
    for case in cases("quantiles.json") {
        let name = case["name"].as_str().unwrap();
        let data = numbers(&case["data"]);
        let ascending = sorted(&data);
        let largest = data.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (p, want) in numbers(&case["probs"]).into_iter().zip(numbers(&case["quantiles"])) {
            close(quantile(&ascending, p).unwrap(), want, 1e-12, 0.0, &format!("{name} p {p}"));
        }
        for (field, got) in [
            ("median", median(&ascending)),
            ("q1", quantile(&ascending, 0.25)),
            ("q3", quantile(&ascending, 0.75)),
            ("iqr", iqr(&ascending)),
            ("mean", mean(&data)),
        ] {
            close(
                got.unwrap(),
                case[field].as_f64().unwrap(),
                1e-12,
                1e-12 * largest,
                &format!("{name} {field}"),
            );
        }
        match (standard_deviation(&data), case["sd"].as_f64()) {
            (None, None) => {}
            (Some(got), Some(want)) => close(got, want, 1e-9, 0.0, &format!("{name} sd")),
            other => panic!("{name} sd: {other:?}"),
        }
        close(mad(&data).unwrap(), case["mad"].as_f64().unwrap(), 1e-9, 0.0, &format!("{name} mad"));
        let fences = Fences::of(&ascending).unwrap();
        for (got, want) in fences.fences.into_iter().zip(numbers(&case["fences"])) {
            close(got, want, 1e-9, 1e-12 * largest, &format!("{name} fence"));
        }
        for (field, got) in [
            ("low_severe", fences.low_severe),
            ("low_mild", fences.low_mild),
            ("high_mild", fences.high_mild),
            ("high_severe", fences.high_severe),
        ] {
            assert_eq!(got as u64, case[field].as_u64().unwrap(), "{name} {field}");
        }
    }
}

#[test]
fn golden_bootstrap_laws_of_the_median_are_reproduced() {
    for case in cases("exact_bootstrap_median.json") {
        let name = case["name"].as_str().unwrap();
        let law = MedianLaw::of(&sorted(&numbers(&case["data"])));
        let (support, probability) = (numbers(&case["support"]), numbers(&case["probability"]));
        let got: Vec<f64> = law.points().iter().map(|point| point.0).collect();
        assert_eq!(got, support, "{name} support");
        let (mut sum, mut want_sum) = (0.0, 0.0);
        for (&(value, got), want) in law.points().iter().zip(probability) {
            close(got, want, 0.0, 1e-12, &format!("{name} at {value}"));
            sum += got;
            want_sum += want;
            close(sum, want_sum, 0.0, 1e-11, &format!("{name} up to {value}"));
        }
        close(sum, 1.0, 0.0, 1e-11, &format!("{name} sum"));
    }
}

#[test]
fn golden_mann_whitney_tests_are_reproduced() {
    for case in cases("mann_whitney.json") {
        let name = case["name"].as_str().unwrap();
        let test = MannWhitney::of(&numbers(&case["x"]), &numbers(&case["y"])).unwrap();
        let want = |field: &str| case[field].as_f64().unwrap();
        assert_eq!((test.u_x, test.u_y), (want("u_x"), want("u_y")), "{name} U");
        assert_eq!(test.ties, case["ties"].as_bool().unwrap(), "{name} ties");
        let method = if test.is_constant() {
            "identical"
        } else if test.is_exact() {
            "exact"
        } else {
            "asymptotic"
        };
        assert_eq!(method, case["auto_method"].as_str().unwrap(), "{name}");
        close(test.p(), want("p_auto"), 1e-9, 0.0, &format!("{name} auto"));
        close(test.p_asymptotic(true), want("p_asymptotic"), 1e-9, 0.0, &format!("{name} asymptotic"));
        let plain = test.p_asymptotic(false);
        close(plain, want("p_asymptotic_no_cc"), 1e-9, 0.0, &format!("{name} without continuity"));
        if let Some(want) = case["p_exact_conditional"].as_f64() {
            close(test.p_exact(), want, 1e-9, 0.0, &format!("{name} exact"));
        }
    }
}

#[test]
fn golden_signed_rank_tests_are_reproduced() {
    for case in cases("wilcoxon_signed_rank.json") {
        let name = case["name"].as_str().unwrap();
        let differences: Vec<f64> =
            numbers(&case["base"]).iter().zip(numbers(&case["new"])).map(|(base, new)| new - base).collect();
        let test = SignedRank::of(&differences);
        let want = |field: &str| case[field].as_f64().unwrap();
        assert_eq!(test.count as u64, case["n_nonzero"].as_u64().unwrap(), "{name}");
        assert_eq!((test.w_plus, test.w_minus), (want("w_plus"), want("w_minus")), "{name}");
        close(test.p_exact(), want("p_exact_signflip"), 1e-9, 0.0, &format!("{name} exact"));
        close(test.p_asymptotic(false), want("p_asymptotic"), 1e-9, 0.0, &format!("{name} asymptotic"));
        close(test.p_asymptotic(true), want("p_asymptotic_cc"), 1e-9, 0.0, &format!("{name} continuity"));
        let auto =
            if case["scipy_auto_method"] == "asymptotic" { test.p_asymptotic(false) } else { test.p_exact() };
        close(auto, want("p_scipy_auto"), 1e-9, 0.0, &format!("{name} auto"));
        let ascending = sorted(&differences);
        close(
            signed_rank::centre(&ascending),
            want("hodges_lehmann"),
            1e-9,
            1e-12,
            &format!("{name} centre"),
        );
        match (signed_rank::centre_bounds(&ascending, 0.025), &case["walsh_ci95"]) {
            (None, Value::Null) => {}
            (Some(got), want) => {
                for (got, want) in got.into_iter().zip(numbers(want)) {
                    close(got, want, 1e-9, 1e-12, &format!("{name} bound"));
                }
            }
            (got, want) => panic!("{name}: {got:?} for {want}"),
        }
    }
}

#[test]
fn golden_dominance_counts_are_reproduced() {
    for case in cases("cliffs_delta.json") {
        let name = case["name"].as_str().unwrap();
        let got = Dominance::of(&sorted(&numbers(&case["base"])), &sorted(&numbers(&case["new"])));
        assert_eq!(got.more, case["more"].as_u64().unwrap(), "{name}");
        assert_eq!(got.less, case["less"].as_u64().unwrap(), "{name}");
        let delta = got.delta().unwrap();
        assert_eq!(delta, case["delta"].as_f64().unwrap(), "{name}");
        assert_eq!(EffectSize::of(delta).as_str(), case["magnitude"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn golden_adjusted_p_values_are_reproduced() {
    for case in cases("holm.json") {
        let name = case["name"].as_str().unwrap();
        let p = numbers(&case["p"]);
        for (field, got) in [("holm", holm(&p)), ("bh", benjamini_hochberg(&p))] {
            let want = numbers(&case[field]);
            assert_eq!(got.len(), want.len(), "{name} {field}");
            for (got, want) in got.into_iter().zip(want) {
                close(got, want, 1e-12, 0.0, &format!("{name} {field}"));
            }
        }
    }
}

#[test]
fn golden_bca_intervals_of_the_exact_law_are_reproduced() {
    for case in cases("bca.json") {
        let name = case["name"].as_str().unwrap();
        let (base, new) = (sorted(&numbers(&case["base"])), sorted(&numbers(&case["new"])));
        let ratio = median(&new).unwrap() / median(&base).unwrap();
        close(ratio, case["ratio"].as_f64().unwrap(), 1e-15, 0.0, name);
        let law = RatioLaw::of_medians(&base, &new).unwrap();
        for (p, want) in [0.025, 0.975].into_iter().zip(numbers(&case["percentile_exact"])) {
            close(law.quantile(p), want, 1e-12, 0.0, &format!("{name} percentile"));
        }
        assert_eq!(law.is_degenerate(), case["degenerate"].as_bool().unwrap(), "{name}");
        if law.is_degenerate() {
            continue;
        }
        let (below, equal) = (law.below(ratio), law.equal(ratio));
        close(below, case["p_below_exact"].as_f64().unwrap(), 0.0, 1e-11, &format!("{name} below"));
        close(equal, case["p_equal_exact"].as_f64().unwrap(), 0.0, 1e-11, &format!("{name} equal"));
        let groups = [
            leave_one_out_medians(&base).iter().map(|left| median(&new).unwrap() / left).collect::<Vec<_>>(),
            leave_one_out_medians(&new).iter().map(|left| left / median(&base).unwrap()).collect(),
        ];
        for (word, convention) in
            [("strict_pooled", Convention::StrictPooled), ("mid_stratified", Convention::MidStratified)]
        {
            let want = &case[word];
            let got = Bca::of(below, equal, &[&groups[0], &groups[1]], 0.95, convention).unwrap();
            close(got.bias, want["z0_exact"].as_f64().unwrap(), 0.0, 1e-8, &format!("{name} {word} bias"));
            let acceleration = want["acceleration"].as_f64().unwrap();
            close(got.acceleration, acceleration, 0.0, 1e-9, &format!("{name} {word} acceleration"));
            for (got, want) in got.levels.into_iter().zip(numbers(&want["levels_exact"])) {
                close(got, want, 0.0, 1e-8, &format!("{name} {word} level"));
            }
            for (got, want) in got.interval(&law).into_iter().zip(numbers(&want["interval_exact"])) {
                close(got, want, 1e-12, 0.0, &format!("{name} {word} interval"));
            }
        }
    }
}

#[test]
fn golden_percentile_brackets_hold_for_2000_random_resamples() {
    for case in cases("bca.json") {
        let name = case["name"].as_str().unwrap();
        let Some(bracket) = case.get("percentile_bracket") else { continue };
        let (base, new) = (numbers(&case["base"]), numbers(&case["new"]));
        let draws = Draws::independent(&base, &new, Taken::Median, 2000, [7; 32]).unwrap();
        for (p, ends) in [0.025, 0.975].into_iter().zip(bracket["2000"].as_array().unwrap()) {
            let (ends, got) = (numbers(ends), draws.quantile(p));
            assert!(ends[0] <= got && got <= ends[1], "{name} at {p}: {got} outside {ends:?}");
        }
    }
}

/// The worked vectors of the design's note on the verdict engine, parts 9 and 12: nine or ten pairs at tolerance 10 %.
fn vector(pairs: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let base: Vec<f64> = (0..pairs).map(|index| 100.0 + index as f64).collect();
    let head: Vec<f64> = (0..pairs).map(|index| 108.0 + 2.0 * index as f64).collect();
    let logs = sorted(&base.iter().zip(&head).map(|(base, head)| (head / base).ln()).collect::<Vec<_>>());
    (base, head, logs)
}

#[test]
fn worked_vectors_of_the_bootstrap_laws_are_reproduced() {
    for (pairs, independent, plain, smooth, change) in [
        (10, 0.734462967, 0.945251209, 0.923618506, 0.119589145),
        (9, 0.679341835, 0.855154194, 0.889559687, 0.115384615),
    ] {
        let (base, head, logs) = vector(pairs);
        let limit = 1.1 + 1e-11;
        close(
            RatioLaw::of_medians(&base, &head).unwrap().above(limit),
            independent,
            0.0,
            1e-8,
            "independent",
        );
        close(PlainLaw::of(&logs).above(limit), plain, 0.0, 1e-8, "plain");
        close(SmoothLaw::of(logs.clone()).unwrap().above(1.1), smooth, 0.0, 1e-8, "smooth");
        close(median(&logs).unwrap().exp() - 1.0, change, 0.0, 1e-8, "change");
    }
    let (_, _, logs) = vector(10);
    close(SmoothLaw::of(logs).unwrap().width(), 0.0142684917, 0.0, 1e-9, "width");
}

#[test]
fn worked_vectors_of_the_rank_tests_are_reproduced() {
    let (base, head, logs) = vector(10);
    let shifted = |by: f64| logs.iter().map(|log| log - by).collect::<Vec<_>>();
    let limit = 1.1_f64.ln();
    let against = |differences: Vec<f64>| signed_rank::p_positive_at_most(&differences, 1e-11);
    close(against(shifted(limit).iter().map(|value| -value).collect()), 0.0322265625, 1e-12, 0.0, "p_reg");
    close(against(shifted(limit)), 0.9755859375, 1e-12, 0.0, "p_pass");
    close(signed_rank::centre(&logs).exp() - 1.0, 0.118914629, 0.0, 1e-8, "paired change");
    let u = mann_whitney::doubled_u_below(&base, &head, 1.1, 1e-11);
    assert_eq!(u.div_ceil(2), 40);
    close(mann_whitney::null_at_most(10, 10, 40.0), 0.240625474, 0.0, 1e-8, "rank p_reg");
    let ln = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    close(mann_whitney::shift(&ln(&base), &ln(&head)).exp() - 1.0, 0.119632967, 0.0, 1e-8, "rank change");
    let pairs: Vec<(f64, f64)> = base.iter().copied().zip(head.iter().copied()).collect();
    close(spearman(&pairs).unwrap(), 1.0, 1e-12, 0.0, "r_s");
    assert!(is_correlated(1.0, 10));
    close(signed_rank::null_at_most(10, 8), 0.024414062, 0.0, 1e-8, "T 8 of 10");
    close(signed_rank::null_at_most(30, 137), 0.024855061, 0.0, 1e-8, "T 137 of 30");
    close(mann_whitney::null_at_most(8, 8, 13.0), 0.024941725, 0.0, 1e-8, "U 13 of 8, 8");
    close(mann_whitney::null_at_most(30, 30, 338.0), 0.049752419, 0.0, 1e-8, "U 338 of 30, 30");
    let tied = [0.1, 0.2, -0.1, 0.2, 0.3, 0.0, 0.1, 0.4];
    close(against(tied.iter().map(|value| -value).collect()), 0.03125, 1e-12, 0.0, "ties and zeros");
}
