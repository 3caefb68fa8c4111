//! A commit, as the rest of the tool sees it.

use std::fmt;

/// The full id of a commit: lowercase hexadecimal, 40 or 64 digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(String);

impl CommitId {
    /// The id in full.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }

    pub(super) fn object_id(&self) -> gix::ObjectId {
        gix::ObjectId::from_hex(self.0.as_bytes()).expect("made from an object id only")
    }
}

impl From<gix::ObjectId> for CommitId {
    fn from(id: gix::ObjectId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A commit that is in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// The id of its tree, in hexadecimal: equal trees hold equal files.
    pub tree: String,
    /// The first line of its message.
    pub subject: String,
    /// The committer's time.
    pub committed_at: jiff::Timestamp,
}

impl Commit {
    pub(super) fn read(commit: &gix::Commit<'_>) -> gix::Result<Self> {
        let subject = commit.message()?.summary().to_string();
        let seconds = commit.time()?.seconds;
        // A nonsense date in a commit is no reason to fail.
        let committed_at = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Ok(Self { id: commit.id.into(), tree: commit.tree_id()?.to_string(), subject, committed_at })
    }
}
