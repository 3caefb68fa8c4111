//! The log of a bisect: what was asked, and each probe as it was made, so that an interrupted one goes on.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::decide::Finding;
use super::report::Probe;

/// What was asked: only a log of the same question is taken up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The benchmark as the user named it.
    pub benchmark: String,
    /// The metric, where it was named.
    pub metric: Option<String>,
    /// In per cent.
    pub threshold_percent: f64,
    /// Full commit id.
    pub good: String,
    /// Full commit id.
    pub bad: String,
    /// All else that decides what is built and measured, as text.
    pub settings: String,
}

impl Question {
    /// The name of its log: the same for the same question.
    pub fn file_name(&self) -> String {
        let digest = Sha256::digest(self.line());
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}.jsonl")
    }

    /// The first line of its log.
    pub fn line(&self) -> String {
        line(self)
    }
}

/// The line of a probe.
pub fn probe_line(probe: &Probe) -> String {
    line(probe)
}

/// The probes of a log of this question; none where it is of another. A last line that was torn off is dropped, and so is
/// what stands behind it; what was skipped is tried again, since a full disk or a lost network may have been why.
pub fn read(text: &str, question: &Question) -> Vec<Probe> {
    let mut lines = text.split_inclusive('\n');
    if lines.next() != Some(question.line().as_str()) {
        return Vec::new();
    }
    lines
        .map_while(|line| serde_json::from_str::<Probe>(line.strip_suffix('\n')?).ok())
        .filter(|probe| !matches!(probe.finding, Finding::Skipped { .. }))
        .collect()
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("every field has a form in JSON");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::super::report::NamedCommit;
    use crate::suite::metric::Metric;

    use super::*;

    fn question() -> Question {
        Question {
            benchmark: "parse".into(),
            metric: None,
            threshold_percent: 5.0,
            good: "a".repeat(40),
            bad: "b".repeat(40),
            settings: String::new(),
        }
    }

    fn probe(subject: &str, finding: Finding) -> Probe {
        let commit = NamedCommit { commit: "c".repeat(40), subject: subject.into() };
        let metric = Some(Metric::Latency);
        Probe {
            commit,
            place: 3,
            metric,
            finding,
            change_percent: Some(1.5),
            share: None,
            rounds: 10,
            looks: 1,
        }
    }

    #[test]
    fn a_log_gives_back_its_probes_and_a_torn_line_is_dropped() {
        let probes = [probe("one\n\"two\"", Finding::Slow), probe("x", Finding::Undecided)];
        let mut text = question().line();
        probes.iter().for_each(|probe| text.push_str(&probe_line(probe)));
        assert_eq!(read(&text, &question()), probes);
        assert_eq!(read(&text[..text.len() - 1], &question()), probes[..1]);
        assert_eq!(read(&text[..text.len() - 20], &question()), probes[..1]);
    }

    #[test]
    fn a_probe_that_was_skipped_is_tried_again() {
        let mut text = question().line();
        text.push_str(&probe_line(&probe("x", Finding::Skipped { why: "the disk is full".into() })));
        text.push_str(&probe_line(&probe("y", Finding::Fast)));
        assert_eq!(read(&text, &question()), [probe("y", Finding::Fast)]);
    }

    #[test]
    fn a_log_of_another_question_says_nothing() {
        let mut text = question().line();
        text.push_str(&probe_line(&probe("one", Finding::Fast)));
        let other = Question { threshold_percent: 2.0, ..question() };
        assert!(read(&text, &other).is_empty());
        assert_ne!(other.file_name(), question().file_name());
        assert!(read("", &question()).is_empty());
    }
}
