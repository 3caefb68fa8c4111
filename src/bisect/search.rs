//! Which commit of a line to try next, and what the commits tried so far come to.

use super::decide::Finding;

/// The search for the first slow one of a line of commits. Place 0 is the good end, the last place the bad end; both are
/// known from the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    findings: Vec<Option<Finding>>,
    /// The last place known to be fast.
    fast: usize,
    /// The first place known to be slow.
    slow: usize,
}

/// What a search has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This place is to be probed next.
    Probe(usize),
    /// This place is slow and the one before it fast.
    Found(usize),
    /// The first slow one is after the first of these places, and at or before the second; nothing between them can be
    /// told.
    Between(usize, usize),
}

impl Search {
    /// A search in a line of `places` commits, both ends included; at least two.
    pub fn new(places: usize) -> Self {
        assert!(2 <= places, "a line has two ends");
        Self { findings: vec![None; places], fast: 0, slow: places - 1 }
    }

    /// Takes what a probe of a place said. A place outside of what is still open changes nothing.
    pub fn record(&mut self, place: usize, finding: Finding) {
        if place <= self.fast || self.slow <= place {
            return;
        }
        match finding {
            Finding::Fast => self.fast = place,
            Finding::Slow => self.slow = place,
            Finding::Undecided | Finding::Skipped { .. } => {}
        }
        self.findings[place] = Some(finding);
    }

    /// The next place to probe, or the answer: the middle of what is open, else the untried place nearest to it.
    pub fn outcome(&self) -> Outcome {
        if self.slow - self.fast == 1 {
            return Outcome::Found(self.slow);
        }
        let middle = self.fast.midpoint(self.slow);
        (self.fast + 1..self.slow)
            .filter(|&place| self.findings[place].is_none())
            // Of two equally near ones the later comes first, as `git bisect` walks on from an untestable commit.
            .min_by_key(|&place| (place.abs_diff(middle), place < middle))
            .map_or(Outcome::Between(self.fast, self.slow), Outcome::Probe)
    }

    /// What is known of a place.
    pub fn finding(&self, place: usize) -> Option<&Finding> {
        self.findings[place].as_ref()
    }

    /// How many probes are left at the most, when each of them can be told.
    pub fn probes_left(&self) -> u32 {
        let open = self.slow - self.fast;
        usize::BITS - (open - 1).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks a search to its end; gives the outcome and the probes it took.
    fn walk(places: usize, say: impl Fn(usize) -> Finding) -> (Outcome, usize) {
        let mut search = Search::new(places);
        let mut probes = 0;
        loop {
            match search.outcome() {
                Outcome::Probe(place) => {
                    assert!(search.finding(place).is_none(), "place {place} is probed twice");
                    search.record(place, say(place));
                    probes += 1;
                }
                outcome => return (outcome, probes),
            }
        }
    }

    fn skipped() -> Finding {
        Finding::Skipped { why: "does not build".into() }
    }

    proptest! {
        #[test]
        fn the_first_slow_place_is_found_in_as_few_probes_as_promised(places in 2..300_usize, at in 0.0..1.0_f64) {
            let first = 1 + (at * (places - 1) as f64) as usize;
            let (outcome, probes) = walk(places, |place| if first <= place { Finding::Slow } else { Finding::Fast });
            prop_assert_eq!(outcome, Outcome::Found(first));
            prop_assert!(probes as u32 <= Search::new(places).probes_left());
        }

        #[test]
        fn what_cannot_be_told_never_turns_the_search_the_wrong_way(
            places in 3..60_usize,
            at in 0.0..1.0_f64,
            holes in prop::collection::vec(any::<bool>(), 60),
        ) {
            let first = 1 + (at * (places - 1) as f64) as usize;
            let (outcome, _) = walk(places, |place| match (holes[place], first <= place) {
                (true, _) => skipped(),
                (false, true) => Finding::Slow,
                (false, false) => Finding::Fast,
            });
            match outcome {
                Outcome::Found(place) => prop_assert_eq!(place, first),
                Outcome::Between(fast, slow) => {
                    prop_assert!(fast < first && first <= slow);
                    prop_assert!((fast + 1..slow).all(|place| holes[place]));
                }
                Outcome::Probe(_) => prop_assert!(false, "the walk goes to the end"),
            }
        }
    }

    #[test]
    fn sixty_four_commits_take_six_probes() {
        assert_eq!(Search::new(65).probes_left(), 6);
        assert_eq!(Search::new(2).probes_left(), 0);
        assert_eq!(Search::new(2).outcome(), Outcome::Found(1));
    }

    #[test]
    fn an_untestable_middle_is_replaced_by_its_neighbours_outwards() {
        let mut search = Search::new(9);
        let mut tried = Vec::new();
        while let Outcome::Probe(place) = search.outcome() {
            tried.push(place);
            search.record(place, Finding::Undecided);
        }
        assert_eq!(tried, [4, 5, 3, 6, 2, 7, 1]);
        assert_eq!(search.outcome(), Outcome::Between(0, 8));
    }
}
