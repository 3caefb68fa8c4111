//! The second way, without the runner: a script counts every case with valgrind, and its profiles tell their names.
//!
//! The arguments that select a case are private to a minor version, so it is done for those that are known to work.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::suite::metric::Metric;
use crate::verdict::evidence::{ErrorKind, Values};

use super::super::contract::{
    CollectedFile, CommandSpec, Executable, HarnessError, Measurement, ResolvedLaunch, Selection,
};
use super::Family;

/// What the program says of itself: a line each of its library's version, its kind, its module.
pub(super) const FACTS: &str = "facts";

const SCRIPT: &str = include_str!("direct.sh");

impl Family {
    /// The run of the script. It ends after the selected case; an iterator's element makes it go through all.
    pub(super) fn direct_command(
        &self,
        executable: &Executable,
        launch: &ResolvedLaunch,
        selection: &Selection<'_>,
        timeout: Duration,
    ) -> CommandSpec {
        let valgrind = launch.facts.tools.valgrind.as_ref().map(|path| path.clone().into_os_string());
        let [group, function] = match selection {
            Selection::One(id) => self.markers(id).unwrap_or_default(),
            Selection::All => Default::default(),
        };
        let args: [OsString; 9] = [
            "-c".into(),
            SCRIPT.into(),
            "benchgate".into(),
            self.name.into(),
            valgrind.unwrap_or_default(),
            self.toggle.into(),
            group.into(),
            function.into(),
            executable.path.clone().into_os_string(),
        ];
        CommandSpec {
            program: "/bin/sh".into(),
            args: args.to_vec(),
            env: self.environment(executable, launch),
            cwd: launch.cwd.clone(),
            stdin: None,
            timeout,
            scratch_variable: Some("BENCHGATE_SCRATCH"),
            collect: super::COLLECT,
            capture_stdout: false,
        }
    }

    /// The functions in a profile that tell the case of an id `module::group::function[::case]`.
    fn markers(&self, id: &str) -> Option<[String; 2]> {
        let parts: Vec<&str> = id.split("::").collect();
        let (module, group, function, case) = match parts[..] {
            [module, group, function] => (module, group, function, "wrapper"),
            [module, group, function, case] => (module, group, function, case),
            _ => return None,
        };
        let case = format!("{module}::{function}::{}{case}", self.case_prefix);
        Some([format!("{module}::{group}::__run"), case])
    }

    /// The counts of the script's profiles.
    pub(super) fn counted_directly(&self, files: &[CollectedFile]) -> Result<Vec<Measurement>, HarnessError> {
        let facts = files.iter().find(|file| file.path.ends_with(FACTS));
        let facts = facts.map(|file| String::from_utf8_lossy(&file.bytes)).unwrap_or_default();
        let mut facts = facts.lines();
        let (version, _kind, module) = (facts.next(), facts.next(), facts.next());
        let mut profiles: Vec<&CollectedFile> =
            files.iter().filter(|file| file.path.extension().is_some_and(|it| it == "callgrind")).collect();
        if profiles.is_empty() {
            return Err(self.lacks_tools(version));
        }
        profiles.sort_by_key(|file| indexes(&file.path));
        let mut measured: Vec<Measurement> = Vec::new();
        for file in profiles {
            let unreadable = |why: &str| {
                let message = format!(
                    "valgrind's profile {} cannot be read: {why}; install {}-runner to have it done by the harness itself",
                    file.path.display(),
                    self.name
                );
                HarnessError::new(ErrorKind::Output, message)
            };
            let profile = Profile::read(&String::from_utf8_lossy(&file.bytes))
                .ok_or_else(|| unreadable("it has no sum"))?;
            // An iterator by itself counts nothing, its elements do. A case that has none is no case.
            if profile.instructions == 0.0 {
                continue;
            }
            let id = self
                .id(&profile, module.unwrap_or_default(), &file.path)
                .ok_or_else(|| unreadable("no function in it tells its benchmark"))?;
            // The compiler makes one function of two that are equal: their counts are equal as well.
            if !measured.iter().any(|known| known.id == id) {
                let values = Values::from_iter([(Metric::Instructions, profile.instructions)]);
                measured.push(super::measurement(id, values));
            }
        }
        if measured.is_empty() {
            let message = "valgrind counted no instruction: the program has no symbols to count by; set `strip = false` in \
                           its profile";
            return Err(HarnessError::new(ErrorKind::MetricFailed, message));
        }
        Ok(measured)
    }

    /// The id as the runner makes it. The group's function calls that of the case, whose name is `function::case`, or
    /// `function::wrapper` where there is only one.
    fn id(&self, profile: &Profile, module: &str, path: &Path) -> Option<String> {
        let (group, case) = profile.calls.iter().find_map(|(caller, callee)| {
            let group = caller.strip_prefix(module)?.strip_prefix("::")?.strip_suffix("::__run")?;
            Some((group, callee.strip_prefix(module)?.strip_prefix("::")?))
        })?;
        let (function, case) = case.rsplit_once("::")?;
        let case = case.strip_prefix(self.case_prefix)?;
        let element = indexes(path).get(3).copied();
        Some(match (case, element) {
            (case, Some(element)) => format!("{module}::{group}::{function}::{case}_{element}"),
            ("wrapper", None) => format!("{module}::{group}::{function}"),
            (case, None) => format!("{module}::{group}::{function}::{case}"),
        })
    }
}

/// The numbers in a profile's name; the name of a group is none, and stands first.
fn indexes(path: &Path) -> Vec<u32> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    name.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// What is read of a profile in callgrind's format.
struct Profile {
    instructions: f64,
    /// Callers with those they call.
    calls: Vec<(String, String)>,
}

impl Profile {
    /// `None` where it has no sum of instructions.
    fn read(text: &str) -> Option<Self> {
        let mut column = None;
        let mut instructions = None;
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let mut caller = "";
        let mut calls: Vec<(&str, &str)> = Vec::new();
        for line in text.lines() {
            if let Some(events) = line.strip_prefix("events:") {
                column = events.split_whitespace().position(|event| event == "Ir");
            } else if let Some(sums) = line.strip_prefix("summary:") {
                instructions = sums.split_whitespace().nth(column?).and_then(|sum| sum.parse().ok());
            } else if let Some(name) = line.strip_prefix("fn=") {
                caller = resolve(name, &mut names);
            } else if let Some(name) = line.strip_prefix("cfn=") {
                calls.push((caller, resolve(name, &mut names)));
            }
        }
        // A name may be told after its first use.
        let name = |key: &str| names.get(key).map_or(key, |name| name).to_owned();
        let calls = calls.into_iter().map(|(caller, callee)| (name(caller), name(callee))).collect();
        Some(Self { instructions: instructions?, calls })
    }
}

/// The key of a name in callgrind's short form: `(12) name` the first time, `(12)` from then on. A plain name is its own.
fn resolve<'a>(text: &'a str, names: &mut BTreeMap<&'a str, &'a str>) -> &'a str {
    match text.split_once(") ") {
        Some((key, name)) if key.starts_with('(') => {
            let key = &text[..=key.len()];
            names.insert(key, name);
            key
        }
        _ => text,
    }
}
