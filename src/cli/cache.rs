//! `cache`: what is kept between runs.

use clap::{Args, Subcommand};

use super::options::OutputFlags;
use crate::build::describe;
use crate::error::{Error, ExitCode};
use crate::gate::environment::cache_directory;
use crate::report::quantity;
use crate::report::text::visible;
use crate::revision::cache::{self, SlotUsage};
use crate::suite::metric::Unit;
use crate::ui::{self, Ui};

/// Arguments of `cache`.
#[derive(Debug, Clone, Args)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    verb: CacheVerb,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum CacheVerb {
    /// Show the target directories and the executables that are kept, with their sizes
    List,
    /// Remove them all, except those of runs going on
    Clean,
}

/// Lists or cleans the cache.
pub(super) fn cache(args: &CacheArgs, ui: &Ui) -> Result<ExitCode, Error> {
    let directory = cache_directory()?;
    match args.verb {
        CacheVerb::List => {
            let slots = cache::list(&directory)?;
            let mut text = String::new();
            for slot in &slots {
                let in_use = if slot.in_use { ", in use" } else { "" };
                text.push_str(&format!("{:>10}  {}{in_use}\n", size(slot), slot.repository.display()));
                for build in &slot.builds {
                    let what = describe(&build.path).unwrap_or_else(|| "cannot be used".to_owned());
                    let bytes = quantity::value(build.bytes as f64, &Unit::Bytes);
                    text.push_str(&format!("{bytes:>10}    executables of {}\n", visible(&what)));
                }
            }
            text.push_str(&format!("{} in {}\n", total(&slots), directory.display()));
            ui::print(text.as_bytes())
                .map_err(|error| Error::Execution(format!("failed to write to stdout: {error}")))?;
        }
        CacheVerb::Clean => {
            let cleaned = cache::clean(&directory)?;
            ui.status("Removed", format!("{} in {}", total(&cleaned.removed), directory.display()));
            for slot in &cleaned.in_use {
                ui.warn(format!("left {} alone: a run uses it", slot.path.display()));
            }
        }
    }
    Ok(ExitCode::Success)
}

fn size(slot: &SlotUsage) -> String {
    quantity::value(slot.bytes as f64, &Unit::Bytes)
}

fn total(slots: &[SlotUsage]) -> String {
    let bytes: u64 = slots.iter().map(|slot| slot.bytes).sum();
    quantity::value(bytes as f64, &Unit::Bytes)
}
