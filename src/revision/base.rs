//! The base a head is compared with when the user names none.

use super::commit::{Commit, CommitId};
use super::error::RevisionError;
use super::repository::Repository;

/// The head of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadChoice {
    /// The working tree, uncommitted and untracked files included.
    WorkingTree,
    /// A commit.
    Commit(Commit),
}

/// What the CI system says about the checkout. The default says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CiHints {
    /// HEAD is the merge of a pull request into its target.
    pub pull_request_merge: bool,
    /// The commit the pushed branch was at before the push; all zeros for a new branch.
    pub push_before: Option<String>,
    /// The name of the default branch, for clones in which `origin/HEAD` is not set.
    pub default_branch: Option<String>,
}

/// The base that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultBase {
    /// A commit to compare with.
    Chosen(BaseChoice),
    /// Head is a root commit: there is nothing before it, so everything is new.
    EverythingIsNew {
        /// Why, for people.
        because: String,
    },
}

/// A base, and why it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseChoice {
    /// The commit.
    pub commit: Commit,
    /// Its name, such as `HEAD~1` or `merge-base(HEAD, origin/main)`.
    pub spec: String,
    /// Why it was chosen, for people.
    pub because: String,
}

/// A branch to compare with.
pub(super) struct Branch {
    /// As the user would name it, such as `origin/main`.
    spec: String,
    /// Without the remote, such as `main`.
    pub(super) short: String,
    commit: gix::ObjectId,
    /// What it is, such as `the default branch`.
    role: &'static str,
}

impl Repository {
    /// The base for `head` when none is named.
    ///
    /// In a pull request's merge checkout its first parent; on a push the commit before; on the default branch, and on a
    /// commit of it that is checked out by itself, HEAD where the working tree has uncommitted changes, or the commit
    /// before it where not; else the merge base with the branch's upstream, where that has another name, or with the
    /// default branch: what `origin/HEAD` points to, else main, else master, the remote's before the local one.
    pub fn default_base(&self, head: &HeadChoice, ci: &CiHints) -> Result<DefaultBase, RevisionError> {
        let checked_out = self.head()?;
        let (commit, at_head, branch) = match head {
            HeadChoice::WorkingTree => (checked_out, true, self.head_branch()?),
            HeadChoice::Commit(commit) if commit.id == checked_out.id => {
                (checked_out, true, self.head_branch()?)
            }
            HeadChoice::Commit(commit) => (commit.clone(), false, None),
        };
        let name = if at_head { "HEAD" } else { commit.id.short() }.to_owned();
        if at_head && ci.pull_request_merge {
            let parents = self.parents(&commit.id)?;
            if let [first, _, ..] = parents.as_slice() {
                let because = "the first parent of the pull request's merge commit".to_owned();
                return self.parent(*first, format!("{name}^1"), because);
            }
        }
        let mut aside = String::new();
        if let Some(before) = ci.push_before.as_deref().filter(|_| at_head) {
            match self.before_push(before, &commit.id)? {
                Some(choice) => return Ok(DefaultBase::Chosen(choice)),
                None => aside = " (no usable commit before the push)".to_owned(),
            }
        }
        let default = self.default_branch(branch.as_deref(), ci.default_branch.as_deref());
        if let (Ok(default), Some(branch)) = (&default, &branch)
            && *branch == default.short
        {
            let because = format!("{name} is on {} '{branch}' itself{aside}", default.role);
            return self.before_change(head, commit, name, because);
        }
        let target = match self.upstream(branch.as_deref()) {
            Some(upstream) => upstream,
            None => default?,
        };
        let found = self.merge_base(&commit.id, &target)?;
        if found.id == commit.id && branch.is_none() {
            let because = format!("{name} is a commit of {} {}{aside}", target.role, target.spec);
            return self.before_change(head, commit, name, because);
        }
        let because = format!("the merge base of {name} with {} {}{aside}", target.role, target.spec);
        let spec = format!("merge-base({name}, {})", target.spec);
        Ok(DefaultBase::Chosen(BaseChoice { commit: found, spec, because }))
    }

    /// The merge base of `head` with the commit that `spec` names; `role` says what that is, such as `the target branch`.
    pub fn merge_base_with(
        &self,
        head: &Commit,
        spec: &str,
        role: &'static str,
    ) -> Result<BaseChoice, RevisionError> {
        let commit = self.resolve(spec)?.id.object_id();
        let target = Branch { spec: spec.to_owned(), short: spec.to_owned(), commit, role };
        let found = self.merge_base(&head.id, &target)?;
        let name = if self.head()?.id == head.id { "HEAD" } else { head.id.short() };
        let because = format!("the merge base of {name} with {role} {spec}");
        Ok(BaseChoice { commit: found, spec: format!("merge-base({name}, {spec})"), because })
    }

    /// Whether a commit has several parents.
    pub fn is_merge(&self, commit: &CommitId) -> Result<bool, RevisionError> {
        Ok(1 < self.parents(commit)?.len())
    }

    /// Whether base and head hold the same files: one commit on both sides, and a clean tree.
    pub fn is_same(&self, base: &Commit, head: &HeadChoice) -> Result<bool, RevisionError> {
        Ok(match head {
            HeadChoice::Commit(commit) => commit.id == base.id,
            HeadChoice::WorkingTree => self.head()?.id == base.id && !self.is_dirty()?,
        })
    }

    fn before_push(&self, before: &str, head: &CommitId) -> Result<Option<BaseChoice>, RevisionError> {
        let Ok(id) = gix::ObjectId::from_hex(before.as_bytes()) else {
            let reason = "the CI system's commit before the push is not a full commit id";
            return Err(RevisionError::BadSpec { spec: before.to_owned(), reason });
        };
        if id.is_null() || id == head.object_id() {
            return Ok(None);
        }
        match self.commit_at(id)? {
            Some(commit) => {
                let because = "the commit before this push".to_owned();
                Ok(Some(BaseChoice { commit, spec: before.to_owned(), because }))
            }
            None if !self.shallow_boundary()?.is_empty() => {
                let what = format!("the commit before this push, {before},");
                Err(self.shallow(what, "git fetch --unshallow".to_owned()))
            }
            // A forced push: what was there is gone.
            None => Ok(None),
        }
    }

    /// What was there before the change to judge: HEAD where the working tree has changes that are not committed, not
    /// these and the last commit in one; else the commit before.
    fn before_change(
        &self,
        head: &HeadChoice,
        commit: Commit,
        name: String,
        because: String,
    ) -> Result<DefaultBase, RevisionError> {
        if *head == HeadChoice::WorkingTree && self.is_dirty()? {
            let because = format!("{because}, with changes that are not committed");
            return Ok(DefaultBase::Chosen(BaseChoice { commit, spec: name, because }));
        }
        self.before(&commit.id, &name, because)
    }

    /// The commit before, or the news that there is none.
    fn before(&self, commit: &CommitId, name: &str, because: String) -> Result<DefaultBase, RevisionError> {
        match self.parents(commit)?.first() {
            Some(parent) => self.parent(*parent, format!("{name}~1"), because),
            None => Ok(DefaultBase::EverythingIsNew {
                because: format!("{name} is a root commit: there is nothing before it"),
            }),
        }
    }

    fn parent(&self, id: gix::ObjectId, spec: String, because: String) -> Result<DefaultBase, RevisionError> {
        match self.commit_at(id)? {
            Some(commit) => Ok(DefaultBase::Chosen(BaseChoice { commit, spec, because })),
            None => Err(self.shallow(format!("the base {spec}"), "git fetch --unshallow".to_owned())),
        }
    }

    /// The upstream of a branch, where it is a branch of another name.
    fn upstream(&self, branch: Option<&str>) -> Option<Branch> {
        let branch = branch?;
        let local = self.local();
        let full = gix::refs::FullName::try_from(format!("refs/heads/{branch}")).ok()?;
        let direction = gix::remote::Direction::Fetch;
        let remote_name = local.branch_remote_ref_name(full.as_ref(), direction)?.ok()?;
        let short = remote_name.shorten().to_string();
        if short == branch {
            return None;
        }
        // `branch.<name>.remote = .`: a local branch is the upstream, and there is nothing to track.
        let tracking = match local.branch_remote_tracking_ref_name(full.as_ref(), direction) {
            Some(Ok(name)) => name,
            _ => remote_name,
        };
        branch_at(&local, tracking.as_bstr(), short, "the upstream branch")
    }

    /// The name and the tip of the default branch. Where the local branch of that name is ahead of the remote's, its
    /// commits count too.
    ///
    /// # Errors
    ///
    /// When there is no default branch, or its commits are not in a shallow clone.
    pub fn default_branch_tip(&self) -> Result<(String, Commit), RevisionError> {
        let branch = self.default_branch(self.head_branch()?.as_deref(), None)?;
        let local = self.local();
        let own = branch_at(
            &local,
            format!("refs/heads/{}", branch.short).as_str().into(),
            branch.short,
            branch.role,
        );
        let ahead = own.filter(|own| {
            local
                .merge_base(own.commit, branch.commit)
                .is_ok_and(|base| base.is_some_and(|base| base.detach() == branch.commit))
        });
        let (spec, tip) = ahead.map_or((branch.spec, branch.commit), |own| (own.spec, own.commit));
        let doing = format!("read the commit {spec} is at");
        let found = local.find_commit(tip).map_err(RevisionError::git(doing.clone()))?;
        Ok((spec, Commit::read(&found).map_err(RevisionError::git(doing))?))
    }

    pub(super) fn default_branch(
        &self,
        current: Option<&str>,
        told: Option<&str>,
    ) -> Result<Branch, RevisionError> {
        let local = self.local();
        let role = "the default branch";
        let remotes = local.remote_names();
        let remote = match remotes.iter().find(|name| name.as_slice() == b"origin") {
            Some(name) => Some(name.to_string()),
            None if remotes.len() == 1 => remotes.iter().next().map(ToString::to_string),
            None => None,
        };
        if let Some(remote) = &remote {
            let head = local.try_find_reference(&format!("refs/remotes/{remote}/HEAD")).ok().flatten();
            let target = head.and_then(|head| head.target().try_name().map(ToOwned::to_owned));
            if let Some(target) = target {
                let spec = target.shorten().to_string();
                let short = spec.strip_prefix(&format!("{remote}/")).unwrap_or(&spec).to_owned();
                if let Some(branch) = branch_at(&local, target.as_bstr(), short, role) {
                    return Ok(branch);
                }
            }
        }
        for short in told.into_iter().chain(["main", "master"]) {
            let remote = remote.as_ref().map(|remote| format!("refs/remotes/{remote}/{short}"));
            for name in remote.into_iter().chain([format!("refs/heads/{short}")]) {
                if let Some(branch) = branch_at(&local, name.as_str().into(), short.to_owned(), role) {
                    return Ok(branch);
                }
            }
        }
        if !self.shallow_boundary()?.is_empty() {
            let remote = remote.unwrap_or_else(|| "origin".to_owned());
            return Err(
                self.shallow("the default branch".to_owned(), format!("git fetch --unshallow {remote}"))
            );
        }
        // A repository with one branch of another name has no other default.
        let branches = local.references().and_then(|references| {
            let count = references.local_branches()?.count();
            Ok((count, references.remote_branches()?.count()))
        });
        if let (Ok((1, 0)), Some(current)) = (branches, current)
            && let Some(branch) = branch_at(
                &local,
                format!("refs/heads/{current}").as_str().into(),
                current.to_owned(),
                "the only branch",
            )
        {
            return Ok(branch);
        }
        let reason =
            "there is no pull request and no default branch (origin/HEAD, main or master)".to_owned();
        Err(RevisionError::NoBase { reason })
    }

    fn merge_base(&self, head: &CommitId, target: &Branch) -> Result<Commit, RevisionError> {
        let mut local = self.local();
        local.object_cache_size_if_unset(4 * 1024 * 1024);
        let boundary = self.shallow_boundary()?;
        let missing = || {
            let what = format!("the merge base of {} with {}", head.short(), target.spec);
            self.shallow(what, "git fetch --unshallow".to_owned())
        };
        let doing = format!("find the merge base of {} with {}", head.short(), target.spec);
        let found = match local.merge_bases_many(head.object_id(), &[target.commit]) {
            Ok(bases) => bases.first().map(|base| base.detach()),
            Err(_) if !boundary.is_empty() => return Err(missing()),
            Err(error) => return Err(RevisionError::git(doing)(error)),
        };
        let Some(base) = found else {
            if boundary.is_empty() {
                let reason = format!("{} and {} have no common history", head.short(), target.spec);
                return Err(RevisionError::NoBase { reason });
            }
            return Err(missing());
        };
        // Where history is cut on the way from either side to the base, a nearer one may lie behind the cut.
        if !boundary.is_empty() && cut_before(&local, [head.object_id(), target.commit], base, &boundary) {
            return Err(missing());
        }
        let commit = self.commit_at(base)?;
        commit.ok_or_else(missing)
    }
}

fn branch_at(
    local: &gix::Repository,
    name: &gix::bstr::BStr,
    short: String,
    role: &'static str,
) -> Option<Branch> {
    let mut reference = local.try_find_reference(name).ok().flatten()?;
    let spec = reference.name().shorten().to_string();
    let commit = reference.peel_to_commit().ok()?.id;
    Some(Branch { spec, short, commit, role })
}

fn cut_before(
    local: &gix::Repository,
    tips: [gix::ObjectId; 2],
    base: gix::ObjectId,
    boundary: &[gix::ObjectId],
) -> bool {
    let Ok(walk) = local.rev_walk(tips).with_hidden([base]).all() else { return true };
    walk.into_iter().any(|commit| commit.map_or(true, |commit| boundary.contains(&commit.id)))
}
