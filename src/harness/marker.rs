//! The marker bytes that tell which harness is linked into a program.

use serde::{Deserialize, Serialize};

use crate::suite::settings::word_enum;

word_enum! {
    /// A harness that leaves its marker in every program it is linked into, `strip` or not.
    Marker {
        /// criterion, and what wraps it.
        Criterion = "criterion",
        /// divan.
        Divan = "divan",
        /// gungraun.
        Gungraun = "gungraun",
        /// iai-callgrind.
        IaiCallgrind = "iai-callgrind",
        /// tango-bench.
        Tango = "tango",
        /// bencher, and criterion, which can print in its format.
        Bencher = "bencher",
        /// iai, the one without callgrind.
        Iai = "iai",
    }
}

impl Marker {
    /// The bytes looked for.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Criterion => b"CRITERION_HOME",
            Self::Divan => b"DIVAN_",
            Self::Gungraun => b"GUNGRAUN_RUNNER",
            Self::IaiCallgrind => b"IAI_CALLGRIND_RUNNER",
            Self::Tango => b"Tango benchmarking",
            Self::Bencher => b" ns/iter (+/- ",
            Self::Iai => b"iai_calibration",
        }
    }
}

/// Looks for markers in a program that is fed piece by piece.
#[derive(Debug, Clone, Default)]
pub struct MarkerScanner {
    found: Vec<Marker>,
    /// The end of what was fed, shorter than the longest marker: a marker may lie across two pieces.
    tail: Vec<u8>,
}

impl MarkerScanner {
    /// Feeds the next piece of the program.
    pub fn feed(&mut self, piece: &[u8]) {
        let longest = Marker::ALL.iter().map(|marker| marker.bytes().len()).max().unwrap_or(0);
        let head = &piece[..piece.len().min(longest - 1)];
        let mut seam = std::mem::take(&mut self.tail);
        seam.extend_from_slice(head);
        self.scan(&seam);
        self.scan(piece);
        let whole = if piece.len() < longest { &seam } else { piece };
        self.tail = whole[whole.len().saturating_sub(longest - 1)..].to_vec();
    }

    /// The markers found so far, each once, in the order of [`Marker::ALL`].
    pub fn found(&self) -> Vec<Marker> {
        Marker::ALL.iter().copied().filter(|marker| self.found.contains(marker)).collect()
    }

    fn scan(&mut self, bytes: &[u8]) {
        for &marker in Marker::ALL {
            if !self.found.contains(&marker) && contains(bytes, marker.bytes()) {
                self.found.push(marker);
            }
        }
    }
}

/// The markers of a whole program.
pub fn markers_in(program: &[u8]) -> Vec<Marker> {
    let mut scanner = MarkerScanner::default();
    scanner.feed(program);
    scanner.found()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let Some((&first, _)) = wanted.split_first() else { return true };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        if rest[at..].starts_with(wanted) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_is_found_alone() {
        for &marker in Marker::ALL {
            let program = [b"\x7fELF..".as_slice(), marker.bytes(), b"\0tail"].concat();
            assert_eq!(markers_in(&program), [marker]);
        }
        assert_eq!(markers_in(b"CRITERION_HOM DIVAN GUNGRAUN_"), []);
    }

    #[test]
    fn a_marker_across_pieces_is_found_whatever_the_cut() {
        let program = [b"xx".as_slice(), Marker::IaiCallgrind.bytes(), b"yy", Marker::Divan.bytes()].concat();
        for size in 1..program.len() {
            let mut scanner = MarkerScanner::default();
            program.chunks(size).for_each(|piece| scanner.feed(piece));
            assert_eq!(scanner.found(), [Marker::Divan, Marker::IaiCallgrind], "pieces of {size}");
        }
    }
}
