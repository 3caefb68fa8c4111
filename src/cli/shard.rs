//! `--shard` and `--shard-from`: a part of the run.

use std::path::PathBuf;

use clap::Args;

use super::saved::read_report;
use crate::error::Error;
use crate::gate::shard::{Costs, ShardRequest};

/// So many shards are more than any run needs.
const MOST: u32 = 10_000;

/// Which part of the benchmarks is measured.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ShardFlags {
    /// Measure the K-th of N parts of the benchmarks; `merge` joins their reports
    #[arg(long, value_name = "K/N", value_parser = parse_shard, help_heading = "Benchmark Selection")]
    shard: Option<(u32, u32)>,
    /// Share the benchmarks out by what they took in this report, in place of their number
    #[arg(long, value_name = "REPORT", requires = "shard", help_heading = "Benchmark Selection")]
    shard_from: Option<PathBuf>,
}

impl ShardFlags {
    /// The part that is asked for.
    ///
    /// # Errors
    ///
    /// An earlier report that cannot be read, or that measured nothing.
    pub(super) fn request(&self) -> Result<Option<ShardRequest>, Error> {
        let Some((index, count)) = self.shard else { return Ok(None) };
        let costs = match &self.shard_from {
            None => None,
            Some(path) => {
                let report = read_report(path)?;
                let costs = Costs::of(&report);
                if costs.is_empty() {
                    return Err(Error::Usage(format!(
                        "{} holds no timed run, so it does not say what the benchmarks cost; leave --shard-from out",
                        path.display()
                    )));
                }
                Some(costs)
            }
        };
        Ok(Some(ShardRequest { index, count, costs }))
    }
}

fn parse_shard(text: &str) -> Result<(u32, u32), String> {
    let help = || format!("write it like 2/5: the second of five parts, at most {MOST}");
    let (index, count) = text.split_once('/').ok_or_else(help)?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| digits)
    };
    match (number(index), number(count)) {
        (Some(index), Some(count)) if 1 <= index && index <= count && count <= MOST => Ok((index, count)),
        (Some(0), _) => Err("parts are counted from 1".to_owned()),
        (Some(index), Some(count)) if count < index => Err(format!("there is no part {index} of {count}")),
        _ => Err(help()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one_to_the_number_of_parts() {
        assert_eq!(parse_shard("2/5"), Ok((2, 5)));
        assert_eq!(parse_shard("1/1"), Ok((1, 1)));
        for text in
            ["", "2", "0/5", "6/5", "-1/5", "+1/5", "1/", "/5", "1/0", "1/99999", "a/b", "1/2/3", " 1/2"]
        {
            assert!(parse_shard(text).is_err(), "{text:?}");
        }
    }
}
