//! Executables kept between runs: what comes back, and what is refused.
#![cfg(unix)]

mod build_support;

use std::collections::BTreeSet;
use std::path::Path;

use build_support::{Slot, bench, lines, stdout};
use cargo_benchgate::build::{
    BuildKey, Built, BuiltTarget, Facts, Found, Kept, KeyParts, Layout, Store, build_key, describe,
    toolchain_info,
};
use cargo_benchgate::suite::identity::TargetId;

struct Keeper {
    slot: Slot,
    store: Store,
    key: BuildKey,
    layout: Layout,
    built: Built,
}

fn id() -> TargetId {
    bench("environment", "environment")
}

/// The fixture `environment`, whose bench has a build script and a program beside it, built and kept.
fn keeper() -> Keeper {
    let slot = Slot::new();
    slot.check_out("environment", "head");
    slot.restore("head");
    let built = slot.build("head", &[id()]).expect("it builds");
    let layout = Layout::of(&slot.workspace("head")).expect("the manifests can be read");
    let toolchain = toolchain_info(&slot.settings, &slot.root).expect("there is a toolchain");
    let parts = KeyParts {
        tree: "0123",
        manifest: Path::new("Cargo.toml"),
        lock: None,
        targets: &[id()],
        profile: None,
        toolchain: &toolchain,
        slot: &slot.root,
    };
    let key = build_key(&slot.settings, &parts).expect("the configuration can be read");
    let store = Store::new(&slot.root.join("builds"));
    let facts = Facts { label: "0123 first", layout: &layout, lock: "the lock" };
    let place = slot.place("head");
    assert!(store.keep(&key, &place, &slot.settings, &built, facts).expect("it can be written"));
    Keeper { slot, store, key, layout, built }
}

impl Keeper {
    fn fetch(&self) -> Found {
        self.fetch_for(&|_| BTreeSet::from([id()]))
    }

    fn fetch_for(&self, targets: &dyn Fn(&Layout) -> BTreeSet<TargetId>) -> Found {
        let place = self.slot.place("kept");
        self.store.fetch(&self.key, &place, &self.slot.settings, targets).expect("it can be read")
    }

    fn kept(&self) -> Box<Kept> {
        match self.fetch() {
            Found::Kept(kept) => kept,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is_damaged(&self, reason: &str) {
        match self.fetch() {
            Found::Damaged(text) => assert!(text.contains(reason), "{text}"),
            other => panic!("{other:?}"),
        }
        assert!(!self.store.entry(&self.key).exists(), "it was removed");
        assert!(matches!(self.fetch(), Found::Nothing));
    }

    fn built(&self) -> &BuiltTarget {
        self.built.targets[&id()].as_ref().expect("it builds")
    }
}

#[test]
fn kept_executables_come_back_with_all_they_are_started_with_and_run() {
    let keeper = keeper();
    let before = lines(&stdout(keeper.built()));
    // A copy of the sources, as the worktree would be.
    keeper.slot.check_out("environment", "kept");
    // The place where cargo built is gone: nothing may depend on it.
    fs_err::remove_dir_all(keeper.slot.root.join("head")).expect("own directory");
    let kept = keeper.kept();
    let target = kept.built.targets[&id()].as_ref().expect("it was kept");
    assert_eq!(target, keeper.built());
    assert_eq!((kept.lock.as_str(), &kept.layout), ("the lock", &keeper.layout));
    assert_eq!(lines(&stdout(target)), before);
    assert!(before.contains_key("CARGO_BIN_EXE_helper-program") && before.contains_key("OUT_DIR"));
    for name in ["CARGO_BIN_EXE_helper-program", "OUT_DIR"] {
        assert!(Path::new(&before[name]).exists(), "{name}");
    }
}

#[test]
fn inherited_variables_are_those_of_today_and_none_is_written_to_the_disk() {
    let mut keeper = keeper();
    keeper.slot.settings.env.push(("TODAY".into(), "yes".into()));
    let kept = keeper.kept();
    let env = &kept.built.targets[&id()].as_ref().expect("it was kept").executable.env;
    assert!(env.iter().any(|(name, value)| name == "TODAY" && value == "yes"));
    let record = keeper.store.entry(&keeper.key).join("record.json");
    let record = fs_err::read_to_string(record).expect("it was written");
    assert!(!record.contains("RUSTUP_HOME"), "{record}");
}

#[test]
fn a_changed_executable_is_found_out() {
    let keeper = keeper();
    let path = keeper.built().executable.path.clone();
    let relative = path.strip_prefix(keeper.slot.root.join("live/target")).expect("it was built there");
    let file = keeper.store.entry(&keeper.key).join("target").join(relative);
    let mut bytes = fs_err::read(&file).expect("it was kept");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&file, bytes).expect("writable");
    keeper.is_damaged("was changed");
}

#[test]
fn a_file_that_is_gone_is_found_out() {
    let keeper = keeper();
    fs_err::remove_file(keeper.store.entry(&keeper.key).join("target/release/helper-program"))
        .expect("it was kept");
    keeper.is_damaged("No such file");
}

#[test]
fn a_torn_or_changed_record_is_found_out() {
    type Edit = (&'static str, fn(String) -> String);
    let change: [Edit; 3] = [
        ("its record is torn", |text| text[..text.len() / 2].to_owned()),
        ("its record was changed", |text| text.replace("0123 first", "4567 other")),
        ("its record is torn", |_| String::new()),
    ];
    for (reason, change) in change {
        let keeper = keeper();
        let record = keeper.store.entry(&keeper.key).join("record.json");
        let text = fs_err::read_to_string(&record).expect("it was written");
        fs_err::write(&record, change(text)).expect("writable");
        keeper.is_damaged(reason);
    }
}

#[test]
fn an_entry_for_other_targets_is_left_alone_and_not_used() {
    let keeper = keeper();
    assert!(matches!(keeper.fetch_for(&|_| BTreeSet::new()), Found::Nothing));
    keeper.kept();
}

#[test]
fn a_variable_that_a_build_script_watches_decides_whether_its_build_is_used() {
    let mut keeper = keeper();
    keeper.slot.write(
        "head",
        "build.rs",
        "fn main() {\n    println!(\"cargo:rerun-if-env-changed=FIXTURE_WATCHED\");\n    \
         println!(\"cargo:rustc-env=FIXTURE_SCRIPT=x\");\n}\n",
    );
    keeper.slot.restore("head");
    keeper.built = keeper.slot.build("head", &[id()]).expect("it builds");
    let place = keeper.slot.place("head");
    let facts = Facts { label: "0123 first", layout: &keeper.layout, lock: "" };
    keeper
        .store
        .keep(&keeper.key, &place, &keeper.slot.settings, &keeper.built, facts)
        .expect("it can be written");
    keeper.kept();
    keeper.slot.settings.env.push(("FIXTURE_WATCHED".into(), "1".into()));
    assert!(matches!(keeper.fetch(), Found::Nothing));
}

#[test]
fn an_entry_tells_people_what_it_holds() {
    let keeper = keeper();
    let entry = keeper.store.entry(&keeper.key);
    assert_eq!(describe(&entry).as_deref(), Some("0123 first [environment]"));
    fs_err::remove_file(entry.join("record.json")).expect("it was written");
    assert_eq!(describe(&entry), None);
}

#[test]
fn a_build_of_which_a_part_failed_is_not_kept() {
    let slot = Slot::new();
    slot.check_out("broken", "head");
    let built = slot.build("head", &[bench("broken", "good"), bench("broken", "bad")]).expect("one builds");
    let layout = Layout::of(&slot.workspace("head")).expect("the manifests can be read");
    let keeper = keeper();
    let facts = Facts { label: "", layout: &layout, lock: "" };
    let place = slot.place("head");
    assert!(
        !keeper.store.keep(&keeper.key, &place, &slot.settings, &built, facts).expect("it can be written")
    );
}

#[test]
fn a_build_with_sources_outside_the_checkout_is_not_kept() {
    let keeper = keeper();
    let outside = keeper.slot.root.join("outside");
    fs_err::create_dir_all(outside.join("src")).expect("writable");
    fs_err::write(outside.join("Cargo.toml"), "[package]\nname = 'outside'\nversion = '0.1.0'\n")
        .expect("writable");
    fs_err::write(outside.join("src/lib.rs"), "").expect("writable");
    let manifest = format!(
        "[package]\nname = 'own'\nversion = '0.1.0'\n[dependencies]\noutside = {{ path = {:?} }}\n[[bench]]\nname = 'speed'\nharness = false\n",
        outside.to_str().expect("test paths are text")
    );
    for (path, text) in
        [("Cargo.toml", manifest.as_str()), ("src/lib.rs", ""), ("benches/speed.rs", "fn main() {}")]
    {
        keeper.slot.write("other", path, text);
    }
    let built = keeper.slot.build("other", &[bench("own", "speed")]).expect("it builds");
    let facts = Facts { label: "", layout: &keeper.layout, lock: "" };
    let place = keeper.slot.place("other");
    let kept = keeper.store.keep(&keeper.key, &place, &keeper.slot.settings, &built, facts);
    assert!(!kept.expect("nothing is written"));
}

#[test]
fn links_among_what_a_build_script_made_are_kept_as_links_wherever_they_lead() {
    let keeper = keeper();
    let place = keeper.slot.place("head");
    let generated = keeper.built().generated.values().next().expect("the fixture has a build script");
    let relative = generated.strip_prefix(&place.live_target).expect("it lies in the target directory");
    let outside = keeper.slot.root.join("large");
    fs_err::create_dir(&outside).expect("it is new");
    fs_err::write(outside.join("file"), "not ours").expect("writable");
    let links = [("away", outside.as_path()), ("dangling", Path::new("nowhere"))];
    for (name, leads_to) in links {
        std::os::unix::fs::symlink(leads_to, place.target.join(relative).join(name)).expect("it is new");
    }
    let facts = Facts { label: "", layout: &keeper.layout, lock: "" };
    let kept = keeper.store.keep(&keeper.key, &place, &keeper.slot.settings, &keeper.built, facts);
    assert!(kept.expect("it can be written"));
    keeper.kept();
    for (name, leads_to) in links {
        let link = keeper.slot.place("kept").target.join(relative).join(name);
        assert_eq!(fs_err::read_link(link).expect("it is a link"), leads_to);
    }
}
