//! What the measuring phase noticed of the benchmarks themselves, in words that advise.

use crate::measure::MeasuredBenchmark;

/// Remarks on what was measured: each pair is a benchmark's label with what came of it.
pub(super) fn remarks(measured: &[(String, &MeasuredBenchmark)]) -> Vec<String> {
    [quick(measured), other_work(measured)].into_iter().flatten().collect()
}

fn quick(measured: &[(String, &MeasuredBenchmark)]) -> Option<String> {
    let quick: Vec<&str> =
        measured.iter().filter(|(_, it)| it.quick).map(|(label, _)| label.as_str()).collect();
    let (subject, set) = one_or_many(
        &quick,
        "sets a long measuring time of its own",
        "set long measuring times of their own",
    )?;
    Some(format!(
        "{subject} {set}, so criterion's `--quick` mode measured them: two samples a run, which scatter more; for closer \
         numbers and shorter runs take `measurement_time` and `warm_up_time` out of the bench's groups, or put them into \
         the `config` of `criterion_group!`, which the command line can override"
    ))
}

fn other_work(measured: &[(String, &MeasuredBenchmark)]) -> Option<String> {
    let differing: Vec<(&str, &str, &str)> = measured
        .iter()
        .filter_map(|(label, it)| match &it.stated_work[..] {
            [Some(base), Some(head), ..] if base != head => {
                Some((label.as_str(), base.as_str(), head.as_str()))
            }
            _ => None,
        })
        .collect();
    let (_, base, head) = *differing.first()?;
    let labels: Vec<&str> = differing.iter().map(|(label, ..)| *label).collect();
    let (subject, does) = one_or_many(&labels, "does", "do")?;
    Some(format!(
        "{subject} {does} not do the same work in base and head: {base} and {head} an iteration, as the bench states; \
         a part of the change of latency may be that, so look at the bench's input as well"
    ))
}

/// The subject and the verb of a sentence on benchmarks; `None` where there are none.
fn one_or_many<'a>(labels: &[&str], one: &'a str, many: &'a str) -> Option<(String, &'a str)> {
    match labels {
        [] => None,
        [label] => Some(((*label).to_owned(), one)),
        [label, rest @ ..] => Some((format!("{label} and {} more", rest.len()), many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(quick: bool, base: &str, head: &str) -> MeasuredBenchmark {
        MeasuredBenchmark {
            sides: vec![Vec::new(), Vec::new()],
            stopped_because: None,
            error: None,
            failures: Vec::new(),
            quick,
            stated_work: vec![Some(base.to_owned()), Some(head.to_owned())],
        }
    }

    #[test]
    fn benchmarks_of_the_same_work_and_an_ordinary_time_get_no_remark() {
        let plain = measured(false, "800 bytes", "800 bytes");
        assert!(remarks(&[("a".to_owned(), &plain)]).is_empty());
    }

    #[test]
    fn a_change_of_the_stated_work_is_told_once_for_all_benchmarks() {
        let other = measured(false, "800 bytes", "900 bytes");
        let told = remarks(&[("t/a".to_owned(), &other), ("t/b".to_owned(), &other)]);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(
            told.starts_with(
                "t/a and 1 more do not do the same work in base and head: 800 bytes and 900 bytes"
            )
        );
    }

    #[test]
    fn a_benchmark_with_a_measuring_time_of_its_own_is_told_with_the_way_out() {
        let long = measured(true, "800 bytes", "800 bytes");
        let told = remarks(&[("t/a".to_owned(), &long)]);
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.starts_with("t/a sets a long measuring time of its own"), "{told}");
        assert!(told.contains("`measurement_time`"), "{told}");
    }
}
