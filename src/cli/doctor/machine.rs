//! What the system tells about the computer, read below a root so that tests can have one of their own.

use std::path::{Path, PathBuf};

use super::checks::Check;

/// What is looked at. Absent is unknown, and is said to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct System {
    governor: Option<String>,
    /// Whether the clock may go above its nominal frequency.
    turbo: Option<bool>,
    load: Option<f64>,
    /// Whether it runs from a battery; `None`: no power supply is known.
    on_battery: Option<bool>,
    isolated_cpus: Option<String>,
    perf_event_paranoid: Option<i64>,
    has_cpu_counters: bool,
    is_virtual: bool,
}

/// The least privilege at which a process may count its own instructions in user mode.
const PARANOID: i64 = 2;

impl System {
    pub(super) fn read(root: &Path) -> Self {
        let read = |path: &str| {
            let text = fs_err::read_to_string(root.join(path)).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let cpu = |path: &str| read(&format!("sys/devices/system/cpu/{path}"));
        let no_turbo = cpu("intel_pstate/no_turbo").map(|word| word == "0");
        let boost = cpu("cpufreq/boost").map(|word| word == "1");
        Self {
            governor: cpu("cpu0/cpufreq/scaling_governor"),
            turbo: no_turbo.or(boost),
            load: read("proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
            on_battery: on_battery(&root.join("sys/class/power_supply")),
            isolated_cpus: cpu("isolated"),
            perf_event_paranoid: read("proc/sys/kernel/perf_event_paranoid")
                .and_then(|text| text.parse().ok()),
            has_cpu_counters: is_counting(&root.join("sys/bus/event_source/devices")),
            is_virtual: read("proc/cpuinfo").is_some_and(|text| {
                text.lines()
                    .any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"))
            }),
        }
    }

    pub(super) fn checks(&self, cpus: usize) -> Vec<Check> {
        vec![
            self.counters(),
            self.governor(),
            self.turbo(),
            self.load(cpus),
            self.power(),
            match &self.isolated_cpus {
                Some(cpus) => Check::info(
                    "isolated",
                    format!("CPUs {cpus}; pin a run to them with `taskset -c {cpus} cargo benchgate`"),
                ),
                None => Check::info("isolated", "no CPU is kept free of other work"),
            },
            match self.is_virtual {
                true => Check::info(
                    "machine",
                    format!("{cpus} CPUs, virtual: neighbours on the same computer are not seen here"),
                ),
                false => Check::info("machine", format!("{cpus} CPUs")),
            },
        ]
    }

    fn counters(&self) -> Check {
        match (self.has_cpu_counters, self.perf_event_paranoid) {
            (_, None) => Check::info("perf", "unknown: the kernel has no perf events"),
            (false, _) => Check::warn(
                "perf",
                "the CPU's counters are not offered here, as on many virtual machines",
                "`instructions` needs valgrind here",
            ),
            (true, Some(level)) if PARANOID < level => Check::warn(
                "perf",
                format!("kernel.perf_event_paranoid is {level}, so counters are refused"),
                format!(
                    "for `instructions` by the CPU's counters: sudo sysctl kernel.perf_event_paranoid={PARANOID}; else valgrind"
                ),
            ),
            (true, Some(level)) => {
                Check::ok("perf", format!("counters may be read (perf_event_paranoid is {level})"))
            }
        }
    }

    fn governor(&self) -> Check {
        match self.governor.as_deref() {
            None => Check::info("governor", "unknown: the system does not tell"),
            Some("performance") => Check::ok("governor", "performance"),
            Some(other) => Check::warn(
                "governor",
                format!("{other}: the clock follows the load"),
                "on your own machine try `cpupower frequency-set -g performance`",
            ),
        }
    }

    fn turbo(&self) -> Check {
        match self.turbo {
            None => Check::info("turbo", "unknown: the system does not tell"),
            Some(false) => Check::ok("turbo", "off"),
            Some(true) => Check::warn(
                "turbo",
                "on: the clock depends on temperature and on other cores",
                "base and head are interleaved, so they share it; for smaller limits turn it off in the firmware or in \
                 /sys/devices/system/cpu",
            ),
        }
    }

    fn load(&self, cpus: usize) -> Check {
        match self.load {
            None => Check::info("load", "unknown: the system does not tell"),
            Some(load) if 0.5 < load / cpus as f64 => Check::warn(
                "load",
                format!("{load:.2} on {cpus} CPUs, above 0.5 a CPU"),
                "stop other work, or wait for it",
            ),
            Some(load) => Check::ok("load", format!("{load:.2} on {cpus} CPUs")),
        }
    }

    fn power(&self) -> Check {
        match self.on_battery {
            None => Check::info("power", "no battery is known"),
            Some(false) => Check::ok("power", "from the mains"),
            Some(true) => Check::warn("power", "from the battery: the clock is held down", "plug it in"),
        }
    }
}

/// A battery, and nothing that feeds it.
fn on_battery(supplies: &Path) -> Option<bool> {
    let (mut has_battery, mut is_fed) = (false, false);
    for entry in fs_err::read_dir(supplies).ok()?.flatten() {
        let read = |file: &str| {
            fs_err::read_to_string(entry.path().join(file)).unwrap_or_default().trim().to_owned()
        };
        // A mouse has a battery, too.
        let is_of_the_system = read("scope") != "Device";
        match read("type").as_str() {
            "Battery" => has_battery |= is_of_the_system,
            "Mains" | "USB" => is_fed |= read("online") == "1",
            _ => {}
        }
    }
    has_battery.then_some(!is_fed)
}

fn is_counting(devices: &Path) -> bool {
    let entries = fs_err::read_dir(devices).into_iter().flatten().flatten();
    // `cpu` on x86, `armv8_…` and the like on ARM, `cpu_core` where cores are of two kinds.
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .any(|name| name.starts_with("cpu") || name.starts_with("arm"))
}

/// Programs that some metrics and harnesses need.
pub(super) fn tools(path: &[PathBuf]) -> Vec<Check> {
    let find = |name: &str| path.iter().map(|directory| directory.join(name)).find(|file| is_program(file));
    let tool = |name: &'static str, program: &str, what_for: &str, install: &str| match find(program) {
        Some(file) => Check::ok(name, file.display().to_string()),
        None => Check::info(name, format!("not on PATH; {what_for}, {install}")),
    };
    vec![
        tool(
            "valgrind",
            "valgrind",
            "needed for gungraun and iai-callgrind benches, and for `instructions` without the CPU's counters",
            "from your system's packages",
        ),
        tool(
            "gungraun",
            "gungraun-runner",
            "needed for gungraun benches",
            "by `cargo install gungraun-runner` in the version of the crate",
        ),
    ]
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::super::checks::Level;
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs_err::write(path, text).expect("it can be written");
        }
        root
    }

    fn levels(files: &[(&str, &str)]) -> Vec<(&'static str, Level)> {
        let root = tree(files);
        let checks = System::read(root.path()).checks(4);
        assert!(checks.iter().all(|check| (check.level == Level::Warn) == check.advice.is_some()));
        checks.into_iter().map(|check| (check.name, check.level)).collect()
    }

    #[test]
    fn system_that_tells_nothing_is_unknown_and_never_warned_of() {
        assert!(levels(&[]).iter().all(|(_, level)| *level == Level::Info));
    }

    #[test]
    fn laptop_on_its_battery_is_warned_of_all_that_disturbs() {
        let found = levels(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("proc/loadavg", "3.2 1.0 0.5 1/100 42\n"),
            ("proc/sys/kernel/perf_event_paranoid", "4\n"),
            ("sys/bus/event_source/devices/cpu/type", "4\n"),
            ("sys/class/power_supply/BAT0/type", "Battery\n"),
            ("sys/class/power_supply/AC/type", "Mains\n"),
            ("sys/class/power_supply/AC/online", "0\n"),
        ]);
        for name in ["governor", "turbo", "load", "perf", "power"] {
            assert!(found.contains(&(name, Level::Warn)), "{name}: {found:?}");
        }
    }

    #[test]
    fn quiet_server_is_fine() {
        let found = levels(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
            ("proc/loadavg", "0.2 1.0 0.5 1/100 42\n"),
            ("proc/sys/kernel/perf_event_paranoid", "2\n"),
            ("sys/bus/event_source/devices/armv8_pmuv3_0/type", "4\n"),
            ("sys/class/power_supply/mouse/type", "Battery\n"),
            ("sys/class/power_supply/mouse/scope", "Device\n"),
        ]);
        for name in ["governor", "turbo", "load", "perf"] {
            assert!(found.contains(&(name, Level::Ok)), "{name}: {found:?}");
        }
        assert!(found.contains(&("power", Level::Info)), "a mouse's battery does not count: {found:?}");
    }

    #[test]
    fn file_that_is_no_program_is_no_tool() {
        let root = tree(&[("bin/valgrind", "")]);
        let found = tools(&[root.path().join("bin")]);
        assert!(found.iter().all(|check| check.level == Level::Info), "{found:?}");
    }
}
