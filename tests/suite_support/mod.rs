//! Cargo metadata made from a few words, without cargo.

#![allow(dead_code, reason = "each test file uses its part")]

use cargo_benchgate::suite::identity::{TargetId, TargetKind};
use cargo_benchgate::suite::{
    LoadError, Overrides, ResolvedBenchmark, Selection, SelectionError, Suite, SuiteErrors,
};
use cargo_metadata::Metadata;
use serde_json::{Value, json};

/// A workspace at `/ws` with a package a directory.
#[derive(Default)]
pub(crate) struct Project {
    workspace: Value,
    packages: Vec<Value>,
    default_members: Option<Vec<Value>>,
}

impl Project {
    /// The content of `[workspace.metadata.benchgate]`.
    pub(crate) fn workspace(mut self, table: &str) -> Self {
        self.workspace = json!({ "benchgate": toml_table(table) });
        self
    }

    /// A package with the content of its benchgate table (`[[bench]]` is an entry) and its bench targets.
    pub(crate) fn package(mut self, name: &str, table: &str, benches: &[&str]) -> Self {
        let metadata = if table.is_empty() { Value::Null } else { json!({ "benchgate": toml_table(table) }) };
        let mut targets: Vec<_> = benches.iter().map(|bench| target("bench", bench)).collect();
        targets.insert(0, target("lib", name));
        self.packages.push(json!({
            "name": name, "version": "0.1.0", "id": format!("path+file:///ws/{name}#0.1.0"),
            "dependencies": [], "targets": targets, "features": {},
            "manifest_path": format!("/ws/{name}/Cargo.toml"), "metadata": metadata,
        }));
        self
    }

    /// Adds a bin to a package.
    pub(crate) fn bin(mut self, package: &str, name: &str) -> Self {
        self.array(package, "targets").push(target("bin", name));
        self
    }

    /// Adds a dependency to a package.
    pub(crate) fn dependency(mut self, package: &str, name: &str, rename: Option<&str>, kind: &str) -> Self {
        self.array(package, "dependencies").push(json!({
            "name": name, "rename": rename, "kind": kind, "req": "*", "optional": false,
            "uses_default_features": true, "features": [], "target": null,
        }));
        self
    }

    pub(crate) fn default_members(mut self, packages: &[&str]) -> Self {
        let ids = packages.iter().map(|name| json!(format!("path+file:///ws/{name}#0.1.0")));
        self.default_members = Some(ids.collect());
        self
    }

    /// Replaces a package's metadata by raw JSON.
    pub(crate) fn raw_metadata(mut self, package: &str, metadata: Value) -> Self {
        self.find(package)["metadata"] = metadata;
        self
    }

    fn find(&mut self, package: &str) -> &mut Value {
        self.packages.iter_mut().find(|p| p["name"] == package).expect("the package is there")
    }

    fn array(&mut self, package: &str, key: &str) -> &mut Vec<Value> {
        self.find(package)[key].as_array_mut().expect("it is an array")
    }

    pub(crate) fn metadata(&self) -> Metadata {
        let ids: Vec<_> = self.packages.iter().map(|package| package["id"].clone()).collect();
        let mut metadata = json!({
            "packages": self.packages, "workspace_members": ids, "resolve": null,
            "workspace_root": "/ws", "target_directory": "/ws/target", "version": 1,
            "metadata": self.workspace,
        });
        if let Some(defaults) = &self.default_members {
            metadata["workspace_default_members"] = json!(defaults);
        }
        serde_json::from_value(metadata).expect("the metadata is as cargo writes it")
    }

    pub(crate) fn load_with(&self, selection: &Selection, overrides: &Overrides) -> Result<Suite, LoadError> {
        Suite::load(&self.metadata(), selection, overrides)
    }

    pub(crate) fn load(&self) -> Suite {
        self.load_with(&Selection::default(), &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn select(&self, selection: &Selection) -> Result<Suite, SelectionError> {
        self.load_with(selection, &Overrides::default()).map_err(|error| match error {
            LoadError::Selection(error) => error,
            LoadError::Configuration(errors) => panic!("{errors}"),
        })
    }

    pub(crate) fn errors_with(&self, selection: &Selection, overrides: &Overrides) -> SuiteErrors {
        match self.load_with(selection, overrides) {
            Err(LoadError::Configuration(errors)) => errors,
            Err(LoadError::Selection(error)) => panic!("{error}"),
            Ok(_) => panic!("the suite has no errors"),
        }
    }

    /// The errors, one text each.
    pub(crate) fn errors(&self) -> Vec<String> {
        let errors = self.errors_with(&Selection::default(), &Overrides::default());
        errors.0.iter().map(ToString::to_string).collect()
    }
}

fn toml_table(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    serde_json::to_value(table).expect("TOML fits into JSON")
}

fn target(kind: &str, name: &str) -> Value {
    json!({
        "name": name, "kind": [kind], "crate_types": [if kind == "lib" { "lib" } else { "bin" }],
        "src_path": format!("/ws/{kind}/{name}.rs"), "edition": "2024", "doctest": false, "test": false, "doc": false,
    })
}

pub(crate) fn id(package: &str, target: &str) -> TargetId {
    TargetId { package: package.to_owned(), kind: TargetKind::Bench, target: target.to_owned() }
}

/// The settings of a benchmark that must be there.
pub(crate) fn only(
    suite: &Suite,
    package: &str,
    target: &str,
    variant: &str,
    benchmark: &str,
    harness: &str,
) -> ResolvedBenchmark {
    let found = suite.benchmark(&id(package, target), variant, benchmark, harness);
    found.unwrap_or_else(|errors| panic!("{errors}")).expect("the benchmark is selected")
}
