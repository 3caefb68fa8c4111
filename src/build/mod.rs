//! From checked-out sources to executables: the cargo calls, their target directories, what each executable is started with.

mod answer;
mod artifact;
mod compile;
mod config;
mod environment;
mod error;
mod freshness;
mod lock;
mod metadata;
mod process;
mod seed;
mod settings;
mod toolchain;

pub use artifact::Artifact;
pub use compile::{BuildPlace, Built, BuiltTarget, TargetFailure, build_targets};
pub use error::BuildError;
pub use freshness::{TIMES_FILE, TimesKept, TreeFile, restore_times};
pub use lock::{LockOrigin, prepare_lock};
pub use metadata::{TargetInfo, Workspace, cargo_metadata};
pub use process::Diagnostics;
pub use seed::seed_target;
pub use settings::{CargoSettings, absolute_config};
pub use toolchain::{Toolchain, ToolchainInfo, toolchain_info, version_of};
