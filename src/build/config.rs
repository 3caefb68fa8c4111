//! The parts of cargo's configuration that decide how an executable is started: `[env]`, runners, the target triple.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cargo_metadata::cargo_platform::{Cfg, Platform};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{BuildError, CargoSettings};

/// The configuration as cargo finds it from a directory, strongest first.
#[derive(Debug, Clone, Default)]
pub(super) struct CargoConfig {
    layers: Vec<Layer>,
}

/// One file, or the `--config` arguments.
#[derive(Debug, Clone)]
struct Layer {
    table: Table,
    /// What its relative paths start from.
    root: PathBuf,
    /// The file, for messages.
    file: PathBuf,
    /// Whether it came by `--config`: only those beat environment variables.
    argument: bool,
}

/// One `[env]` entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EnvEntry {
    /// The value, absolute when it was relative to the configuration.
    pub value: OsString,
    /// Whether it also replaces an inherited variable.
    pub force: bool,
    /// Whether it was written as a relative path.
    pub relative: bool,
}

impl CargoConfig {
    /// Reads the configuration a cargo that runs in `cwd` (a physical path, as the kernel gives it) would read.
    pub(super) fn load(settings: &CargoSettings, cwd: &Path) -> Result<Self, BuildError> {
        let mut config = Self::default();
        for argument in settings.config.iter().rev() {
            let path = Path::new(argument);
            if path.is_absolute() && path.is_file() {
                config.read(path, true, &mut Vec::new())?;
                continue;
            }
            let table = argument.parse().map_err(|error: toml::de::Error| {
                BuildError::configuration(Path::new("--config"), format!("{argument}: {}", error.message()))
            })?;
            let file = PathBuf::from("--config");
            config.layers.push(Layer { table, root: cwd.to_owned(), file, argument: true });
        }
        let home = settings.variable("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(settings.variable("HOME")?).join(".cargo")));
        let mut directories: Vec<PathBuf> = cwd.ancestors().map(|parent| parent.join(".cargo")).collect();
        if let Some(home) = home.filter(|home| !directories.contains(home)) {
            directories.push(home);
        }
        for directory in directories {
            // Cargo prefers the name without extension where both exist.
            let file = ["config", "config.toml"].map(|name| directory.join(name));
            if let Some(file) = file.iter().find(|file| file.is_file()) {
                config.read(file, false, &mut Vec::new())?;
            }
        }
        Ok(config)
    }

    /// The files and arguments it was read from, with what they say.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&Path, String)> {
        self.layers.iter().map(|layer| (layer.file.as_path(), layer.table.to_string()))
    }

    /// All `[env]` entries; relative ones are below the root of their file.
    pub(super) fn env(&self) -> BTreeMap<String, EnvEntry> {
        let mut entries = BTreeMap::new();
        for layer in &self.layers {
            for (name, value) in layer.table.get("env").and_then(Value::as_table).into_iter().flatten() {
                let flag = |key| value.get(key).and_then(Value::as_bool).unwrap_or(false);
                let text = value.as_str().or_else(|| value.get("value").and_then(Value::as_str));
                let Some(text) = text else { continue };
                let relative = flag("relative");
                let value = if relative { layer.root.join(text).into() } else { text.into() };
                entries.entry(name.clone()).or_insert(EnvEntry { value, force: flag("force"), relative });
            }
        }
        entries
    }

    /// The directories of vendored sources that were written as relative paths: (source name, key, absolute path).
    pub(super) fn source_directories(&self) -> Vec<(String, &'static str, PathBuf)> {
        let mut found: Vec<(String, &'static str, PathBuf)> = Vec::new();
        for layer in &self.layers {
            for (name, source) in layer.table.get("source").and_then(Value::as_table).into_iter().flatten() {
                for key in ["directory", "local-registry"] {
                    let Some(text) = source.get(key).and_then(Value::as_str) else { continue };
                    if !Path::new(text).is_absolute() && !found.iter().any(|(known, ..)| known == name) {
                        found.push((name.clone(), key, layer.root.join(text)));
                    }
                }
            }
        }
        found
    }

    /// The triple or file of a triple that is built for, where one is chosen: `--target`, else `build.target` when it is
    /// one.
    pub(super) fn target(&self, settings: &CargoSettings) -> Option<String> {
        let one = |value: &Value| match value {
            Value::String(target) => Some(target.clone()),
            Value::Array(targets) if targets.len() == 1 => targets[0].as_str().map(str::to_owned),
            _ => None,
        };
        let chosen = settings.target.clone().map(|target| (target, None));
        chosen.or_else(|| self.build(settings, "target", one)).map(|(target, _)| target)
    }

    /// The compiler: `RUSTC`, else `build.rustc`.
    pub(super) fn rustc(&self, settings: &CargoSettings) -> OsString {
        if let Some(program) = settings.variable("RUSTC") {
            return program.to_owned();
        }
        match self.build(settings, "rustc", |value| value.as_str().map(str::to_owned)) {
            None => "rustc".into(),
            Some((program, None)) => program.into(),
            Some((program, Some(root))) => rooted(vec![program], root).remove(0),
        }
    }

    /// A key of `[build]`, with what a relative path starts from where it is known: `--config` beats the variable, and
    /// that the files.
    fn build(
        &self,
        settings: &CargoSettings,
        key: &str,
        read: impl Fn(&Value) -> Option<String>,
    ) -> Option<(String, Option<&Path>)> {
        let find = |argument: bool| {
            self.layers.iter().filter(move |layer| layer.argument == argument).find_map(|layer| {
                Some((read(layer.table.get("build")?.get(key)?)?, Some(layer.root.as_path())))
            })
        };
        let variable = format!("CARGO_BUILD_{}", key.to_uppercase());
        let of_variable = || Some((settings.variable(&variable)?.to_str()?.to_owned(), None));
        find(true).or_else(of_variable).or_else(|| find(false))
    }

    /// The words to put before a program of this triple. `cfgs` is asked only when a `target.'cfg(…)'.runner` exists.
    pub(super) fn runner(
        &self,
        settings: &CargoSettings,
        triple: &str,
        cfgs: impl FnOnce() -> Result<Vec<Cfg>, BuildError>,
    ) -> Result<Vec<OsString>, BuildError> {
        let named = |layer: &Layer, key: &str| {
            let words = words(layer.table.get("target")?.get(key)?.get("runner")?)?;
            Some(rooted(words, &layer.root))
        };
        let arguments = self.layers.iter().filter(|layer| layer.argument);
        if let Some(words) = arguments.into_iter().find_map(|layer| named(layer, triple)) {
            return Ok(words);
        }
        let variable = format!("CARGO_TARGET_{}_RUNNER", triple.to_uppercase().replace(['-', '.'], "_"));
        if let Some(text) = settings.variable(&variable).and_then(OsStr::to_str) {
            return Ok(text.split_whitespace().map(OsString::from).collect());
        }
        if let Some(words) = self.layers.iter().find_map(|layer| named(layer, triple)) {
            return Ok(words);
        }
        let mut conditional: BTreeMap<String, (&Layer, Vec<OsString>)> = BTreeMap::new();
        for layer in &self.layers {
            for (key, _) in layer.table.get("target").and_then(Value::as_table).into_iter().flatten() {
                if let (true, Some(words)) = (key.starts_with("cfg("), named(layer, key)) {
                    conditional.entry(key.clone()).or_insert((layer, words));
                }
            }
        }
        if conditional.is_empty() {
            return Ok(Vec::new());
        }
        let cfgs = cfgs()?;
        let mut matching: Vec<(&Layer, Vec<OsString>)> = Vec::new();
        for (key, (layer, words)) in conditional {
            let platform = Platform::from_str(&key).map_err(|error| {
                BuildError::configuration(&layer.file, format!("target.'{key}': {error}"))
            })?;
            if platform.matches(triple, &cfgs) {
                matching.push((layer, words));
            }
        }
        match matching.len() {
            0 => Ok(Vec::new()),
            1 => Ok(matching.remove(0).1),
            _ => Err(BuildError::configuration(
                &matching[0].0.file,
                format!("several target.'cfg(…)'.runner hold for {triple}; cargo accepts one"),
            )),
        }
    }

    fn read(&mut self, file: &Path, argument: bool, chain: &mut Vec<PathBuf>) -> Result<(), BuildError> {
        if chain.iter().any(|known| known == file) {
            return Err(BuildError::configuration(file, "it includes itself"));
        }
        let text = fs_err::read_to_string(file).map_err(BuildError::io("read cargo's configuration"))?;
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| BuildError::configuration(file, error.message()))?;
        let directory = file.parent().unwrap_or(Path::new("/"));
        // Files in `.cargo` speak of the directory above it; cargo takes the parent's parent of any file.
        let root = directory.parent().unwrap_or(directory).to_owned();
        let includes = included(&table);
        self.layers.push(Layer { table, root, file: file.to_owned(), argument });
        chain.push(file.to_owned());
        // The later of two included files wins, and the including one wins over both.
        for (path, optional) in includes.into_iter().rev() {
            let path = directory.join(path);
            if path.is_file() || !optional {
                self.read(&path, argument, chain)?;
            }
        }
        chain.pop();
        Ok(())
    }
}

/// The `include` key: a path, or a list of paths or of `{ path, optional }`.
fn included(table: &Table) -> Vec<(String, bool)> {
    let one = |value: &Value| match value {
        Value::String(path) => Some((path.clone(), false)),
        Value::Table(entry) => {
            let optional = entry.get("optional").and_then(Value::as_bool).unwrap_or(false);
            Some((entry.get("path")?.as_str()?.to_owned(), optional))
        }
        _ => None,
    };
    match table.get("include") {
        Some(Value::Array(list)) => list.iter().filter_map(one).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A runner is one text, split at spaces, or a list of words.
fn words(value: &Value) -> Option<Vec<String>> {
    let words: Vec<String> = match value {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        Value::Array(list) => list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => return None,
    };
    (!words.is_empty()).then_some(words)
}

/// A program with a separator in it is relative to the configuration, a bare name is looked up in PATH.
fn rooted(words: Vec<String>, root: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    if Path::new(&words[0]).components().count() > 1 {
        words[0] = root.join(&words[0]).into();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Toolchain;

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    struct Place {
        _guard: tempfile::TempDir,
        root: PathBuf,
        settings: CargoSettings,
    }

    fn place(files: &[(&str, &str)]) -> Place {
        let guard = tempfile::tempdir().expect("a temporary directory");
        let root = guard.path().canonicalize().expect("it exists");
        for (path, text) in files {
            let path = root.join(path);
            fs_err::create_dir_all(path.parent().expect("a file has a parent")).expect("writable");
            fs_err::write(path, text).expect("writable");
        }
        let toolchain = Toolchain { cargo: PathBuf::from("cargo"), rustup_toolchain: None };
        let env = vec![("CARGO_HOME".into(), root.join("home").into())];
        Place { settings: CargoSettings::new(toolchain, env), root, _guard: guard }
    }

    fn load(place: &Place) -> CargoConfig {
        CargoConfig::load(&place.settings, &place.root.join("outer/tree")).expect("it can be read")
    }

    #[test]
    fn the_nearest_file_wins_and_cargo_home_comes_last() {
        let place = place(&[
            ("outer/tree/.cargo/config.toml", "[env]\nA = 'tree'"),
            ("outer/.cargo/config.toml", "[env]\nA = 'outer'\nB = 'outer'"),
            ("home/config.toml", "[env]\nB = 'home'\nC = { value = 'home', force = true }"),
        ]);
        let env = load(&place).env();
        let values = env.iter().map(|(name, entry)| (name.as_str(), entry.value.clone(), entry.force));
        assert_eq!(
            values.collect::<Vec<_>>(),
            [("A", "tree".into(), false), ("B", "outer".into(), false), ("C", "home".into(), true)]
        );
    }

    #[test]
    fn a_relative_value_starts_above_the_dot_cargo_directory() {
        let place =
            place(&[("outer/tree/.cargo/config.toml", "env.D = { value = 'data/x', relative = true }")]);
        let entry = load(&place).env().remove("D").expect("it is set");
        assert_eq!(entry.value, place.root.join("outer/tree/data/x"));
    }

    #[test]
    fn an_included_file_is_weaker_than_the_one_that_includes_it() {
        let place = place(&[
            (
                "outer/tree/.cargo/config.toml",
                "include = ['more.toml', { path = 'none.toml', optional = true }]\nenv.A = '1'",
            ),
            ("outer/tree/.cargo/more.toml", "[env]\nA = '2'\nB = '2'"),
        ]);
        let env = load(&place).env();
        assert_eq!((&*env["A"].value, &*env["B"].value), (OsStr::new("1"), OsStr::new("2")));
    }

    #[test]
    fn a_file_that_includes_itself_is_an_error_and_no_endless_loop() {
        let place = place(&[("outer/tree/.cargo/config.toml", "include = 'config.toml'")]);
        let error = CargoConfig::load(&place.settings, &place.root.join("outer/tree")).expect_err("a circle");
        assert!(error.to_string().ends_with("it includes itself"), "{error}");
    }

    #[test]
    fn the_runner_of_the_triple_beats_one_of_a_condition() {
        let place = place(&[(
            "outer/tree/.cargo/config.toml",
            "[target.x86_64-unknown-linux-gnu]\nrunner = 'tools/run --fast'\n[target.'cfg(unix)']\nrunner = ['no']",
        )]);
        let runner = load(&place).runner(&place.settings, TRIPLE, || panic!("not needed"));
        let expected = [place.root.join("outer/tree/tools/run").into_os_string(), "--fast".into()];
        assert_eq!(runner.expect("it is sound"), expected);
    }

    #[test]
    fn a_runner_of_a_condition_holds_only_where_the_condition_does() {
        let place = place(&[(
            "outer/tree/.cargo/config.toml",
            "[target.'cfg(windows)']\nrunner = 'wine'\n[target.'cfg(all(unix, target_os = \"linux\"))']\nrunner = ['nice', '-5']",
        )]);
        let cfgs = || {
            ["unix", "target_os=\"linux\""]
                .iter()
                .map(|text| Cfg::from_str(text).map_err(|_| BuildError::Interrupted))
                .collect()
        };
        let runner = load(&place).runner(&place.settings, TRIPLE, cfgs).expect("it is sound");
        assert_eq!(runner, ["nice", "-5"]);
    }

    #[test]
    fn the_runner_variable_beats_files_and_an_argument_beats_the_variable() {
        let mut place =
            place(&[("outer/tree/.cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = 'file'")]);
        place.settings.env.push(("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER".into(), "from env".into()));
        let runner = |place: &Place| load(place).runner(&place.settings, TRIPLE, || Ok(Vec::new()));
        assert_eq!(runner(&place).expect("sound"), ["from", "env"]);
        place.settings.config.push("target.x86_64-unknown-linux-gnu.runner = 'argument'".to_owned());
        assert_eq!(runner(&place).expect("sound"), ["argument"]);
    }

    #[test]
    fn a_torn_configuration_is_an_error_that_names_the_file() {
        let place = place(&[("outer/tree/.cargo/config.toml", "[env")]);
        let error = CargoConfig::load(&place.settings, &place.root.join("outer/tree")).expect_err("torn");
        assert!(error.to_string().contains("outer/tree/.cargo/config.toml"), "{error}");
    }

    #[test]
    fn compiler_and_target_come_from_arguments_then_variables_then_files() {
        let files = [(".cargo/config.toml", "[build]\nrustc = \"tools/rustc\"\ntarget = \"of-file\"\n")];
        let mut place = place(&files);
        let found = |place: &Place| {
            let config = CargoConfig::load(&place.settings, &place.root).expect("it can be read");
            (config.rustc(&place.settings), config.target(&place.settings))
        };
        let own = OsString::from(place.root.join("tools/rustc"));
        assert_eq!(found(&place), (own, Some("of-file".to_owned())));
        place.settings.env.push(("CARGO_BUILD_RUSTC".into(), "of-variable".into()));
        place.settings.env.push(("CARGO_BUILD_TARGET".into(), "of-variable".into()));
        assert_eq!(found(&place), ("of-variable".into(), Some("of-variable".to_owned())));
        place.settings.config = vec!["build.rustc = 'argument'".into(), "build.target = ['argument']".into()];
        assert_eq!(found(&place), ("argument".into(), Some("argument".to_owned())));
        place.settings.env.push(("RUSTC".into(), "strongest".into()));
        place.settings.target = Some("flag".to_owned());
        assert_eq!(found(&place), ("strongest".into(), Some("flag".to_owned())));
    }
}
