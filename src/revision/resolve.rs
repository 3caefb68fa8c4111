//! From what the user typed to a commit, or to an error that helps.

use gix::bstr::{BStr, ByteSlice};

use super::commit::{Commit, CommitId};
use super::error::{RevisionError, explain};
use super::repository::Repository;

/// Names shown when one was not found.
const NEAR_NAMES: usize = 3;

impl Repository {
    /// The commit any revspec names; tags are peeled.
    pub fn resolve(&self, spec: &str) -> Result<Commit, RevisionError> {
        check_spelling(spec)?;
        let local = self.local();
        let found = local.rev_parse(BStr::new(spec)).and_then(|parsed| {
            let Some(id) = parsed.single() else { return Ok(None) };
            id.object().map(Some)
        });
        let object = match found {
            Ok(Some(object)) => object,
            Ok(None) => {
                let reason = "it names a range; name the commit itself";
                return Err(RevisionError::BadSpec { spec: spec.into(), reason });
            }
            Err(error) => return Err(self.not_found(&local, spec, &error)),
        };
        let kind = object.kind;
        let commit = match object.peel_to_commit() {
            Ok(commit) => commit,
            Err(_)
                if matches!(kind, gix::objs::Kind::Blob | gix::objs::Kind::Tree | gix::objs::Kind::Tag) =>
            {
                return Err(RevisionError::NotACommit { spec: spec.into(), found: kind.to_string() });
            }
            Err(error) => return Err(self.not_found(&local, spec, &error)),
        };
        Commit::read(&commit).map_err(RevisionError::git(format!("read the commit of revision '{spec}'")))
    }

    /// The commit of that id, which need not be in a shallow clone.
    pub(super) fn commit_at(&self, id: gix::ObjectId) -> Result<Option<Commit>, RevisionError> {
        let local = self.local();
        if !local.has_object(id) {
            return Ok(None);
        }
        let read = local.find_commit(id).and_then(|commit| Commit::read(&commit));
        read.map(Some).map_err(RevisionError::git(format!("read commit {id}")))
    }

    /// Parents as the commit object names them, whether they are in the clone or not.
    pub(super) fn parents(&self, commit: &CommitId) -> Result<Vec<gix::ObjectId>, RevisionError> {
        let local = self.local();
        let found = local
            .find_commit(commit.object_id())
            .map_err(RevisionError::git(format!("read commit {}", commit.short())))?;
        Ok(found.parent_ids().map(gix::Id::detach).collect())
    }

    /// Where history ends, in a shallow clone; empty in a full one.
    pub(super) fn shallow_boundary(&self) -> Result<Vec<gix::ObjectId>, RevisionError> {
        let boundary = self
            .local()
            .shallow_commits()
            .map_err(RevisionError::git("read where this shallow clone ends"))?;
        Ok(boundary.map(|commits| commits.iter().copied().collect()).unwrap_or_default())
    }

    /// The error for something that is missing because the clone is shallow.
    pub(super) fn shallow(&self, what: String, fetch: String) -> RevisionError {
        RevisionError::Shallow { what, depth: self.depth(), fetch }
    }

    /// Commits from HEAD to the end of a shallow clone's history, along first parents.
    fn depth(&self) -> usize {
        let boundary = self.shallow_boundary().unwrap_or_default();
        let local = self.local();
        let mut next = local.head_id().ok().map(gix::Id::detach);
        let mut depth = 0;
        while let Some(id) = next {
            depth += 1;
            if boundary.contains(&id) {
                break;
            }
            next =
                local.find_commit(id).ok().and_then(|commit| commit.parent_ids().next().map(gix::Id::detach));
        }
        depth
    }

    fn not_found(&self, local: &gix::Repository, spec: &str, error: &gix::Error) -> RevisionError {
        let unborn = local.head().is_ok_and(|head| head.is_unborn());
        let names = ref_names(local);
        if unborn && names.is_empty() {
            return RevisionError::NoCommits { root: self.root().to_owned() };
        }
        if local.is_shallow().unwrap_or(false) {
            return self.shallow(format!("revision '{spec}'"), unshallow_line(local, spec));
        }
        let reason = reason(local, spec, error);
        RevisionError::NotFound { spec: spec.into(), reason, hint: hint(local, &names, spec) }
    }
}

/// Refuses what git would read as an option, or what could break a message or a command line.
fn check_spelling(spec: &str) -> Result<(), RevisionError> {
    let reason = if spec.trim().is_empty() {
        "it is empty"
    } else if spec.starts_with('-') {
        "it starts with '-', like an option"
    } else if spec.contains(['\0', '\r', '\n']) {
        "it holds a control character"
    } else {
        return Ok(());
    };
    Err(RevisionError::BadSpec { spec: spec.into(), reason })
}

/// Why a revspec names nothing, in a few words: gix tells every step of its parser.
fn reason(local: &gix::Repository, spec: &str, error: &gix::Error) -> String {
    let steps = explain(error);
    let name = name_of(spec);
    if steps.contains("ambiguous") {
        return steps;
    }
    if !name.is_empty() && local.rev_parse_single(BStr::new(name)).is_err() {
        return "no branch, tag or commit has that name".to_owned();
    }
    let last = error.iter_errors().last().map(|cause| cause.to_string()).unwrap_or(steps);
    let mut letters = last.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The name at the front of a revspec: `origin/main` of `origin/main~3`.
fn name_of(spec: &str) -> &str {
    let end = spec.find(['~', '^', ':']).or_else(|| spec.find("@{")).unwrap_or(spec.len());
    &spec[..end]
}

/// The remote and the branch, where `name` begins with a remote's name.
fn split_remote(local: &gix::Repository, name: &str) -> Option<(String, String)> {
    local.remote_names().iter().find_map(|remote| {
        let remote = remote.to_str_lossy();
        let branch = name.strip_prefix(remote.as_ref())?.strip_prefix('/')?;
        (!branch.is_empty()).then(|| (remote.into_owned(), branch.to_owned()))
    })
}

fn unshallow_line(local: &gix::Repository, spec: &str) -> String {
    match split_remote(local, name_of(spec)) {
        // A shallow clone usually follows one branch only, so the place to store it is named too.
        Some((remote, branch)) if local.try_find_reference(name_of(spec)).ok().flatten().is_none() => {
            format!("git fetch --unshallow {remote} {branch}:refs/remotes/{remote}/{branch}")
        }
        Some((remote, branch)) => format!("git fetch --unshallow {remote} {branch}"),
        None => "git fetch --unshallow --tags".to_owned(),
    }
}

fn hint(local: &gix::Repository, names: &[String], spec: &str) -> String {
    let name = name_of(spec);
    let known = |wanted: &str| names.iter().any(|name| name == wanted);
    if known(name) || name.is_empty() {
        return String::new();
    }
    if let Some((remote, branch)) = split_remote(local, name) {
        let fetch = format!("'git fetch {remote} {branch}:refs/remotes/{remote}/{branch}' fetches it");
        return if known(&branch) {
            format!(
                "; the local '{branch}' exists, but '{name}' was never fetched: name '{branch}', or {fetch}"
            )
        } else {
            format!("{}; {fetch} where it exists", near(names, name))
        };
    }
    let remotes = local.remote_names();
    let remote = remotes.iter().map(|remote| format!("{remote}/{name}")).find(|candidate| known(candidate));
    match remote {
        Some(candidate) => format!("; did you mean '{candidate}'?"),
        None => near(names, name),
    }
}

/// The names most like `wanted`.
fn near(names: &[String], wanted: &str) -> String {
    let limit = (wanted.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &String)> = names
        .iter()
        .map(|name| {
            // The last part alone counts too: `mian` is near `origin/main`.
            let last = name.rsplit('/').next().unwrap_or(name);
            let whole = strsim::damerau_levenshtein(name, wanted);
            (whole.min(strsim::damerau_levenshtein(last, wanted) + 1), name)
        })
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort();
    match near.as_slice() {
        [] => String::new(),
        [(_, only)] => format!("; did you mean '{only}'?"),
        several => {
            let list: Vec<String> =
                several.iter().take(NEAR_NAMES).map(|(_, name)| format!("'{name}'")).collect();
            format!("; did you mean one of {}?", list.join(", "))
        }
    }
}

/// Branches, tags and remote-tracking branches by their short names.
fn ref_names(local: &gix::Repository) -> Vec<String> {
    let Ok(platform) = local.references() else { return Vec::new() };
    let mut names = Vec::new();
    let lists = [platform.local_branches(), platform.tags(), platform.remote_branches()];
    for reference in lists.into_iter().flatten().flatten().flatten() {
        names.push(reference.name().shorten().to_string());
    }
    names.retain(|name| !name.ends_with("/HEAD"));
    names
}
