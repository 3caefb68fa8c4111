//! Partial clones: the missing files of a commit are fetched by the git program, all at once.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::commit::Commit;
use super::error::RevisionError;
use super::git::Git;
use super::repository::Repository;

/// The remote a partial clone has promised objects from; `None` for a whole clone.
pub(super) fn remote(local: &gix::Repository) -> Option<String> {
    let config = local.config_snapshot();
    if let Some(name) = config.string("extensions.partialClone") {
        return Some(name.to_string());
    }
    let promises = |name: &str| config.boolean(format!("remote.{name}.promisor").as_str()).unwrap_or(false);
    local.remote_names().iter().map(ToString::to_string).find(|name| promises(name))
}

/// Fetches the files of a commit that are not there, and says how many these were. Not one by one, as git itself
/// would when it reads them.
pub(super) fn fetch_missing(
    repository: &Repository,
    commit: &Commit,
    slot: &Path,
    interrupt: &AtomicBool,
) -> Result<usize, RevisionError> {
    let local = repository.local();
    let Some(remote) = remote(&local) else { return Ok(0) };
    let doing = format!("fetch the missing files of commit {} from '{remote}'", commit.id.short());
    let git = Git { directory: repository.common_dir(), doing: &doing, interrupt, slot };
    // Directories a clone left out as well are fetched by this already.
    let listed = git.run(&["ls-tree", "-r", "--full-tree", "-z", commit.id.as_str()])?;
    let mut missing: Vec<&[u8]> = listed
        .split(|&byte| byte == 0)
        .filter_map(|line| {
            // MODE SP KIND SP ID TAB PATH
            let mut words = line.split(|&byte| byte == b' ' || byte == b'\t');
            let (_mode, kind, id) = (words.next()?, words.next()?, words.next()?);
            (kind == b"blob").then_some(id)
        })
        .filter(|id| gix::ObjectId::from_hex(id).is_ok_and(|id| !local.has_object(id)))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return Ok(0);
    }
    let words = [
        "-c",
        "fetch.negotiationAlgorithm=noop",
        "fetch",
        "-q",
        &remote,
        "--no-tags",
        "--no-write-fetch-head",
        "--recurse-submodules=no",
        "--filter=blob:none",
        "--stdin",
    ];
    git.run_with(&words, &[missing.join(&b'\n'), b"\n".to_vec()].concat())?;
    Ok(missing.len())
}
