//! What computer this is, as far as it matters to measurements.

use std::path::Path;

use crate::report::model::Machine;

/// Reads what the system tells about itself. What it does not tell is `None`.
pub fn read() -> Machine {
    let read = |path: &str| fs_err::read_to_string(path).ok();
    Machine {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        cpu_model: read("/proc/cpuinfo").as_deref().and_then(cpu_model),
        logical_cpus: std::thread::available_parallelism().map_or(1, usize::from),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .map(|text| text.trim().to_owned()),
        load_at_start: load_average(),
        load_at_end: None,
        memory_bytes: read("/proc/meminfo").as_deref().and_then(memory_bytes),
        label: None,
    }
}

/// The one-minute load average, where the system has one.
pub fn load_average() -> Option<f64> {
    let path = Path::new("/proc/loadavg");
    fs_err::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}

/// What about this machine makes measurements worse than they need be, with what to do about it.
pub fn advice(machine: &Machine) -> Vec<String> {
    // The load is that of the whole computer, also inside a container that may use a part of it.
    let cpus = fs_err::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpu_count(&text));
    advice_with(machine, cpus.map_or(machine.logical_cpus, |cpus| cpus.max(machine.logical_cpus)))
}

fn advice_with(machine: &Machine, cpus: usize) -> Vec<String> {
    let mut advice = Vec::new();
    if let Some(load) = machine.load_at_start {
        let per_cpu = load / cpus as f64;
        if 0.5 < per_cpu {
            advice.push(format!(
                "the machine is busy: load average {load:.2} on {cpus} CPUs, above 0.5 a CPU; timings scatter more and need more \
                 runs; stop other work, or wait for it"
            ));
        }
    }
    if let Some(governor) = machine.governor.as_deref().filter(|governor| *governor != "performance") {
        advice.push(format!(
            "the CPU frequency governor is `{governor}`, not `performance`: clock speed may change during the run; on your own \
             machine try `cpupower frequency-set -g performance`"
        ));
    }
    advice
}

/// How many CPUs the computer has that are switched on.
fn cpu_count(cpuinfo: &str) -> Option<usize> {
    let count = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    (0 < count).then_some(count)
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").or_else(|| field(cpuinfo, "Model"))
}

fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kibibytes: u64 = field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            os: "linux".into(),
            arch: "x86_64".into(),
            cpu_model: None,
            logical_cpus: 4,
            governor: None,
            load_at_start: Some(2.0),
            load_at_end: None,
            memory_bytes: None,
            label: None,
        }
    }

    #[test]
    fn load_of_half_a_cpu_is_quiet_and_more_is_not() {
        let busy = Machine { load_at_start: Some(2.04), ..machine() };
        assert!(advice_with(&machine(), 4).is_empty());
        assert_eq!(advice_with(&busy, 4).len(), 1);
        // The same load on a computer of which a container has a part.
        assert!(advice_with(&busy, 16).is_empty());
    }

    #[test]
    fn governor_other_than_performance_is_named() {
        let governed = |name: &str| advice_with(&Machine { governor: Some(name.into()), ..machine() }, 4);
        assert!(governed("performance").is_empty());
        assert!(governed("powersave")[0].contains("`powersave`"));
    }

    #[test]
    fn cpu_and_memory_are_read_from_the_kernels_text() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"),
            Some("Some CPU @ 3 GHz".into())
        );
        assert_eq!(cpu_count("processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n"), Some(2));
        assert_eq!(cpu_count("model name\t: x\n"), None);
        assert_eq!(memory_bytes("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2_097_152));
        assert_eq!(memory_bytes("nothing"), None);
    }
}
