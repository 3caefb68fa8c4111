//! Files kept on a git ref of their own: read, written, and moved to a remote and back by the git program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use gix::objs::tree::{Entry, EntryKind};

use super::error::RevisionError;
use super::repository::Repository;

/// The ref a history is kept on, here and on remotes.
pub const HISTORY_REF: &str = "refs/benchgate/history";

/// The files of one commit of the ref.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefFiles {
    /// The commit.
    pub commit: Option<gix::ObjectId>,
    /// Paths with `/` between the parts, and their blobs.
    pub files: BTreeMap<String, gix::ObjectId>,
}

/// How a push ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has the commit.
    Done,
    /// Someone else pushed meanwhile.
    Overtaken,
}

impl Repository {
    /// Brings the history of a remote here, and gives its files; none when it has no history.
    ///
    /// # Errors
    ///
    /// When the git program or the remote fails.
    pub fn fetch_history(
        &self,
        remote: &str,
        env: &[(OsString, OsString)],
    ) -> Result<RefFiles, RevisionError> {
        let listed =
            self.git(&["ls-remote", "--", remote, HISTORY_REF], env)?.map_err(failed("list", remote))?;
        let Some(id) = listed.split_whitespace().next() else { return Ok(RefFiles::default()) };
        let id = gix::ObjectId::from_hex(id.as_bytes()).map_err(|error| RevisionError::Git {
            doing: format!("list the history of {remote}"),
            reason: format!("git answered {id:?}: {error}"),
        })?;
        if !self.local().has_object(id) {
            let arguments =
                ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, HISTORY_REF];
            self.git(&arguments, env)?.map_err(failed("fetch", remote))?;
        }
        self.history_files(id)
    }

    /// The files of a commit.
    fn history_files(&self, id: gix::ObjectId) -> Result<RefFiles, RevisionError> {
        let doing = || RevisionError::git(format!("read the history in commit {id}"));
        let local = self.local();
        let tree = local.find_commit(id).map_err(doing())?.tree_id().map_err(doing())?.detach();
        let mut files = BTreeMap::new();
        let mut open = vec![(String::new(), tree)];
        while let Some((folder, tree)) = open.pop() {
            let tree = local.find_tree(tree).map_err(doing())?;
            for entry in tree.iter() {
                let entry = entry.map_err(doing())?;
                let name = format!("{folder}{}", entry.filename());
                match entry.mode().kind() {
                    EntryKind::Tree => open.push((format!("{name}/"), entry.object_id())),
                    EntryKind::Blob => {
                        files.insert(name, entry.object_id());
                    }
                    _ => {}
                }
            }
        }
        Ok(RefFiles { commit: Some(id), files })
    }

    /// The content of a file of the ref.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn history_blob(&self, id: gix::ObjectId) -> Result<Vec<u8>, RevisionError> {
        let local = self.local();
        let mut blob =
            local.find_blob(id).map_err(RevisionError::git(format!("read file {id} of the history")))?;
        Ok(blob.take_data())
    }

    /// Writes a file's content, and gives its blob.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_history_blob(&self, bytes: &[u8]) -> Result<gix::ObjectId, RevisionError> {
        let local = self.local();
        let id = local.write_blob(bytes).map_err(RevisionError::git("write a file of the history"))?;
        Ok(id.detach())
    }

    /// Writes a commit with these files on top of the one they came from.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn commit_history(&self, files: &RefFiles, time: i64) -> Result<gix::ObjectId, RevisionError> {
        let doing = || RevisionError::git("write a commit of the history");
        let local = self.local();
        let mut root = Folder::default();
        for (path, blob) in &files.files {
            root.insert(path, *blob);
        }
        let tree = root.write(&local)?;
        let who = gix::actor::Signature {
            name: "cargo-benchgate".into(),
            email: "cargo-benchgate@localhost".into(),
            time: gix::date::Time::new(time, 0),
        };
        let commit = gix::objs::Commit {
            tree,
            parents: files.commit.into_iter().collect(),
            author: who.clone(),
            committer: who,
            encoding: None,
            message: "Benchmark history\n".into(),
            extra_headers: Vec::new(),
        };
        Ok(local.write_object(&commit).map_err(doing())?.detach())
    }

    /// Points the ref here to a commit, so that its files are kept.
    ///
    /// # Errors
    ///
    /// When the ref cannot be written.
    pub fn set_history_ref(&self, commit: gix::ObjectId) -> Result<(), RevisionError> {
        self.local()
            .reference(HISTORY_REF, commit, gix::refs::transaction::PreviousValue::Any, "benchgate history")
            .map_err(RevisionError::git(format!("write {HISTORY_REF}")))?;
        Ok(())
    }

    /// Pushes a commit to the ref of a remote, without force.
    ///
    /// # Errors
    ///
    /// When the git program or the remote fails for another reason than that someone else was quicker.
    pub fn push_history(
        &self,
        remote: &str,
        commit: gix::ObjectId,
        env: &[(OsString, OsString)],
    ) -> Result<Pushed, RevisionError> {
        let refspec = format!("{commit}:{HISTORY_REF}");
        match self.git(&["push", "--quiet", "--no-verify", "--", remote, &refspec], env)? {
            Ok(_) => Ok(Pushed::Done),
            Err(why) => {
                let overtaken = [
                    "fetch first",
                    "non-fast-forward",
                    "[rejected]",
                    "failed to update ref",
                    "cannot lock ref",
                ];
                match overtaken.iter().any(|word| why.contains(word)) {
                    true => Ok(Pushed::Overtaken),
                    false => Err(failed("push", remote)(why)),
                }
            }
        }
    }

    /// Runs git in the repository: its output, or what it complained of.
    #[allow(clippy::disallowed_methods, reason = "the one place that starts git")]
    fn git(
        &self,
        arguments: &[&str],
        env: &[(OsString, OsString)],
    ) -> Result<Result<String, String>, RevisionError> {
        let output = Command::new("git")
            .env_clear()
            .envs(env.iter().cloned())
            // Its words are looked at.
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .arg("-C")
            .arg(self.root())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| RevisionError::Git {
                doing: format!("start `git {}`", arguments.join(" ")),
                reason: format!("{error}; install git, or copy the files of the history by hand"),
            })?;
        Ok(match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        })
    }
}

fn failed(what: &'static str, remote: &str) -> impl FnOnce(String) -> RevisionError {
    let doing = format!("{what} the history of {remote}");
    move |reason| RevisionError::Git { doing, reason }
}

/// A folder on its way to a git tree.
#[derive(Default)]
struct Folder {
    files: BTreeMap<String, gix::ObjectId>,
    folders: BTreeMap<String, Self>,
}

impl Folder {
    fn insert(&mut self, path: &str, blob: gix::ObjectId) {
        match path.split_once('/') {
            Some((folder, rest)) => self.folders.entry(folder.to_owned()).or_default().insert(rest, blob),
            None => {
                self.files.insert(path.to_owned(), blob);
            }
        }
    }

    fn write(&self, repository: &gix::Repository) -> Result<gix::ObjectId, RevisionError> {
        let mut entries = Vec::new();
        for (name, folder) in &self.folders {
            let oid = folder.write(repository)?;
            entries.push(Entry { mode: EntryKind::Tree.into(), filename: name.as_str().into(), oid });
        }
        for (name, blob) in &self.files {
            entries.push(Entry { mode: EntryKind::Blob.into(), filename: name.as_str().into(), oid: *blob });
        }
        entries.sort();
        let tree = gix::objs::Tree { entries };
        let id =
            repository.write_object(&tree).map_err(RevisionError::git("write a folder of the history"))?;
        Ok(id.detach())
    }
}
