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
