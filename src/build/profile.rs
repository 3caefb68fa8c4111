//! What two root manifests say of how the same code is compiled: profiles, patches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use super::BuildError;

/// A root manifest, as far as it decides how everything is compiled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BuildManifest {
    table: Table,
}

/// One setting that differs between two root manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// Its key, such as `profile.release.lto`.
    pub key: String,
    /// What the first says; `None`: nothing.
    pub base: Option<String>,
    /// What the second says; `None`: nothing.
    pub head: Option<String>,
}

impl std::fmt::Display for SettingChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
        write!(f, "{} is {} in base and {} in head", self.key, shown(&self.base), shown(&self.head))
    }
}

impl BuildManifest {
    /// Reads a manifest.
    pub fn read(path: &Path) -> Result<Self, BuildError> {
        let text = fs_err::read_to_string(path).map_err(BuildError::io("read a manifest"))?;
        Self::parse(&text).map_err(|reason| BuildError::configuration(path, reason))
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map(|table| Self { table }).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    /// The settings that differ, of this profile with what it inherits, and of what replaces dependencies.
    pub fn changes(&self, head: &Self, profile: &str) -> Vec<SettingChange> {
        let (base, head) = (self.settings(profile), head.settings(profile));
        let keys: BTreeSet<&Vec<String>> = base.keys().chain(head.keys()).collect();
        let text = |value: Option<&Value>| value.map(ToString::to_string);
        keys.into_iter()
            .filter(|key| base.get(*key) != head.get(*key))
            .map(|key| SettingChange {
                key: dotted(key),
                base: text(base.get(key)),
                head: text(head.get(key)),
            })
            .collect()
    }

    /// The `--config` arguments that make a build of `base` use this manifest's profile, and the keys of base's that
    /// cannot be undone that way. What base alone sets is set to what holds here.
    pub fn profile_arguments(&self, base: &Self, profile: &str) -> (Vec<String>, Vec<String>) {
        let (own, theirs) = (self.profile_settings(profile), base.profile_settings(profile));
        let mut arguments: Vec<String> =
            own.iter().map(|(key, value)| format!("{}={value}", dotted(key))).collect();
        let mut stuck = Vec::new();
        let chain = self.chain(profile);
        for key in theirs.keys().filter(|key| !own.contains_key(*key)) {
            match self.inherited(&chain, key) {
                Some(value) => arguments.push(format!("{}={value}", dotted(key))),
                None => stuck.push(dotted(key)),
            }
        }
        (arguments, stuck)
    }

    /// This manifest's profile as text, for keys of a cache.
    pub fn profile_text(&self, profile: &str) -> String {
        let settings = self.profile_settings(profile);
        settings.iter().map(|(key, value)| format!("{}={value}\n", dotted(key))).collect()
    }

    fn settings(&self, profile: &str) -> BTreeMap<Vec<String>, Value> {
        let mut settings = self.profile_settings(profile);
        for key in ["patch", "replace"] {
            if let Some(value) = self.table.get(key) {
                flatten(&mut vec![key.to_owned()], value, &mut settings);
            }
        }
        settings
    }

    fn profile_settings(&self, profile: &str) -> BTreeMap<Vec<String>, Value> {
        let mut settings = BTreeMap::new();
        for name in self.chain(profile) {
            if let Some(value) = self.profile(&name) {
                flatten(&mut vec!["profile".to_owned(), name], value, &mut settings);
            }
        }
        settings
    }

    fn profile(&self, name: &str) -> Option<&Value> {
        self.table.get("profile")?.get(name)
    }

    /// The profile with all it inherits from, the root first.
    fn chain(&self, profile: &str) -> Vec<String> {
        let mut chain = vec![profile.to_owned()];
        loop {
            let last = chain.last().expect("it starts with one");
            let parent = match last.as_str() {
                "bench" => Some("release"),
                "test" => Some("dev"),
                "release" | "dev" => None,
                name => self.profile(name).and_then(|table| table.get("inherits")).and_then(Value::as_str),
            };
            match parent {
                Some(parent) if !chain.iter().any(|known| known == parent) => chain.push(parent.to_owned()),
                _ => break,
            }
        }
        chain.reverse();
        chain
    }

    /// What holds for a key of the profile that this manifest does not set: what the profile inherits, else cargo's own
    /// value.
    fn inherited(&self, chain: &[String], key: &[String]) -> Option<String> {
        let [_, name, setting] = key else { return None };
        let place = chain.iter().position(|known| known == name)?;
        let parents = chain[..place].iter().rev();
        let set =
            parents.filter_map(|parent| self.profile(parent)?.get(setting)).map(ToString::to_string).next();
        let optimized = chain[0] == "release";
        let own = match setting.as_str() {
            "opt-level" if optimized => "3",
            "opt-level" => "0",
            "debug" | "debug-assertions" | "overflow-checks" if !optimized => "true",
            "debug" | "debug-assertions" | "overflow-checks" | "lto" | "rpath" => "false",
            "codegen-units" if optimized => "16",
            "codegen-units" => "256",
            "panic" => "\"unwind\"",
            "strip" => "\"none\"",
            // Off in every build of ours.
            "incremental" => "false",
            _ => return set,
        };
        set.or_else(|| Some(own.to_owned()))
    }
}

fn flatten(path: &mut Vec<String>, value: &Value, into: &mut BTreeMap<Vec<String>, Value>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                path.push(key.clone());
                flatten(path, value, into);
                path.pop();
            }
        }
        value => {
            into.insert(path.clone(), value.clone());
        }
    }
}

fn dotted(path: &[String]) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let part = |part: &String| match !part.is_empty() && part.chars().all(is_bare) {
        true => part.clone(),
        false => Value::from(part.as_str()).to_string(),
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> BuildManifest {
        BuildManifest::parse(text).expect("it is a manifest")
    }

    fn changes(base: &str, head: &str, profile: &str) -> Vec<String> {
        manifest(base).changes(&manifest(head), profile).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_bench_profile_inherits_counts_and_other_profiles_do_not() {
        assert_eq!(
            changes(
                "[profile.dev]\nlto = false",
                "[profile.release]\nlto = true\n[profile.dev]\nlto = true",
                "bench"
            ),
            ["profile.release.lto is not set in base and true in head"]
        );
        let custom = "[profile.fast]\ninherits = 'dev'\n[profile.dev]\nopt-level = 3";
        assert_eq!(
            changes("[profile.fast]\ninherits = 'dev'", custom, "fast"),
            ["profile.dev.opt-level is not set in base and 3 in head"]
        );
        assert!(changes(custom, custom, "fast").is_empty());
    }

    #[test]
    fn replaced_dependencies_are_told() {
        assert_eq!(
            changes("", "[patch.crates-io]\na = { path = 'a' }", "bench"),
            ["patch.crates-io.a.path is not set in base and \"a\" in head"]
        );
    }

    #[test]
    fn heads_profile_becomes_arguments_that_undo_what_base_alone_sets() {
        let head = manifest("[profile.release]\nlto = 'fat'\n[profile.bench.package.\"a:b\"]\nopt-level = 1");
        let base = manifest(
            "[profile.release]\ncodegen-units = 1\n[profile.bench]\nlto = 'thin'\nsplit-debuginfo = 'off'\n[profile.bench.package.c]\nopt-level = 2",
        );
        let (arguments, stuck) = head.profile_arguments(&base, "bench");
        assert_eq!(
            arguments,
            [
                "profile.bench.package.\"a:b\".opt-level=1",
                "profile.release.lto=\"fat\"",
                "profile.bench.lto=\"fat\"",
                "profile.release.codegen-units=16"
            ]
        );
        assert_eq!(stuck, ["profile.bench.package.c.opt-level", "profile.bench.split-debuginfo"]);
    }

    #[test]
    fn a_profile_that_inherits_itself_ends() {
        let odd = manifest("[profile.a]\ninherits = 'b'\n[profile.b]\ninherits = 'a'");
        assert_eq!(odd.chain("a"), ["b", "a"]);
    }
}
