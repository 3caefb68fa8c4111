//! Slots: numbered, locked places below the cache directory where one run at a time checks out and builds.
//!
//! ```text
//! <cache root>/<repository>/slot-00.lock        held while a run uses the slot
//! <cache root>/<repository>/slot-00/base/tree   the worktree of revision `base`
//! <cache root>/<repository>/slot-00/base/target its target directory, kept between runs
//! <cache root>/<repository>/slot-00/builds      executables kept for later runs
//! <cache root>/<repository>/slot-00/live        a link to `base` or `head`: both live behind one path
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::error::RevisionError;
use super::lock::Lock;
use super::repository::Repository;
use super::sweep;

/// Runs of one repository that may go on at the same time. Two digits keep all names of one length.
const SLOTS: usize = 100;

/// The name of the directory in a slot that holds kept executables.
pub(super) const BUILDS: &str = "builds";

/// The name of the directory beside a revision's tree that its benchmarks may write to.
pub(super) const WORK: &str = "work";

/// The name of the file that says whose slots they are.
pub(super) const OWNER_FILE: &str = "repository";

/// The place of one repository's slots.
#[derive(Debug, Clone)]
pub struct SlotRoot {
    directory: PathBuf,
    repository: Repository,
}

impl SlotRoot {
    /// The place below `cache_root` for this repository; made when it is not there.
    pub fn new(cache_root: &Path, repository: &Repository) -> Result<Self, RevisionError> {
        let doing = || RevisionError::io("make the cache directory");
        fs_err::create_dir_all(cache_root).map_err(doing())?;
        let cache_root = fs_err::canonicalize(cache_root).map_err(doing())?;
        if repository.has_work_tree() && cache_root.starts_with(repository.root()) {
            return Err(RevisionError::CacheInsideRepository {
                cache: cache_root,
                root: repository.root().to_owned(),
            });
        }
        let digest = Sha256::digest(repository.common_dir().as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let directory = cache_root.join(name);
        let root = Self { directory, repository: repository.clone() };
        root.make().map_err(doing())?;
        Ok(root)
    }

    /// The directory of this repository below the cache root.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The first free slot, freed of what a killed run left in it. It is held until the slot and all of its checkouts
    /// are dropped.
    pub fn acquire(&self) -> Result<Slot, RevisionError> {
        for number in 0..SLOTS {
            let directory = self.directory.join(format!("slot-{number:02}"));
            let Some(lock) = self.try_lock(&directory)? else { continue };
            sweep::slot(&self.repository, &directory, sweep::Kept::Remove)?;
            fs_err::create_dir_all(&directory).map_err(RevisionError::io("make a build slot"))?;
            let repository = self.repository.clone();
            let held = Held { directory, repository, links: Mutex::default(), _lock: lock };
            return Ok(Slot { held: Arc::new(held) });
        }
        Err(RevisionError::NoFreeSlot { count: SLOTS, directory: self.directory.clone() })
    }

    /// Removes what killed runs left in slots nobody holds: worktrees and their registrations. Target directories and
    /// trees that were kept on purpose stay. Of other cache directories only what git knows of this repository goes.
    pub fn sweep(&self) -> Result<(), RevisionError> {
        let mut slots =
            slot_directories(&self.directory).map_err(RevisionError::io("list the build slots"))?;
        slots.extend(sweep::registered_slots(&self.repository, &self.directory)?);
        slots.sort();
        slots.dedup();
        for directory in slots {
            if let Some(_lock) = self.try_lock(&directory)? {
                sweep::slot(&self.repository, &directory, sweep::Kept::Leave)?;
            }
        }
        sweep::strays(&self.repository, &self.directory);
        Ok(())
    }

    fn make(&self) -> io::Result<()> {
        fs_err::create_dir_all(&self.directory)?;
        let owner = self.directory.join(OWNER_FILE);
        if !owner.exists() {
            fs_err::write(owner, self.repository.common_dir().as_os_str().as_encoded_bytes())?;
        }
        Ok(())
    }

    fn try_lock(&self, slot: &Path) -> Result<Option<Lock>, RevisionError> {
        self.make().map_err(RevisionError::io("make the cache directory"))?;
        try_lock(slot).map_err(RevisionError::io(format!("lock the build slot {}", slot.display())))
    }
}

/// Takes the lock of a slot; `None` when another run holds it.
pub(super) fn try_lock(slot: &Path) -> io::Result<Option<Lock>> {
    Lock::attempt(&lock_path(slot))
}

/// The lock file beside a slot.
pub(super) fn lock_path(slot: &Path) -> PathBuf {
    slot.with_extension("lock")
}

/// The slots that exist below a repository's directory.
pub(super) fn slot_directories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut slots = Vec::new();
    for entry in fs_err::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_slot = name
            .to_str()
            .and_then(|name| name.strip_prefix("slot-"))
            .is_some_and(|number| number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit()));
        if is_slot && entry.file_type()?.is_dir() {
            slots.push(entry.path());
        }
    }
    slots.sort();
    Ok(slots)
}

/// A slot this run holds. Paths inside are absolute, without symbolic links but `live`.
#[derive(Debug)]
pub struct Slot {
    pub(super) held: Arc<Held>,
}

/// What a slot and its checkouts hold together.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) directory: PathBuf,
    pub(super) repository: Repository,
    /// Links to what lies outside of the repository.
    links: Mutex<Vec<PathBuf>>,
    _lock: Lock,
}

impl Drop for Held {
    fn drop(&mut self) {
        for link in self.links.get_mut().into_iter().flatten() {
            // What cannot be removed now is swept by the next run.
            let _ = std::fs::remove_file(link);
        }
    }
}

impl Slot {
    /// The directory of the slot.
    pub fn directory(&self) -> &Path {
        &self.held.directory
    }

    /// The worktree of a revision.
    pub fn tree(&self, revision: &str) -> PathBuf {
        self.held.directory.join(revision).join("tree")
    }

    /// The target directory of a revision. It outlives the run.
    pub fn target(&self, revision: &str) -> PathBuf {
        self.held.directory.join(revision).join("target")
    }

    /// Where executables are kept for later runs.
    pub fn builds(&self) -> PathBuf {
        self.held.directory.join(BUILDS)
    }

    /// The worktree of the revision `live` points to; the same path for every revision.
    pub fn live_tree(&self) -> PathBuf {
        self.held.directory.join("live").join("tree")
    }

    /// The target directory of the revision `live` points to; the same path for every revision.
    pub fn live_target(&self) -> PathBuf {
        self.held.directory.join("live").join("target")
    }

    /// Where the benchmarks of a revision make what they like; it goes with the run.
    pub fn works(&self, revision: &str) -> PathBuf {
        self.held.directory.join(revision).join(WORK)
    }

    /// The directory of one of them in a revision; `None`: in the one `live` points to, by the same path for every
    /// revision.
    pub fn work(&self, revision: Option<&str>, number: usize) -> PathBuf {
        self.works(revision.unwrap_or("live")).join(format!("{number:04}"))
    }

    /// Makes a place outside of the repository reachable from a revision's worktree by the relative path it has from the
    /// user's tree, as far as that leads up one or two directories; false where it cannot.
    pub fn link_outside(&self, revision: &str, outside: &Path) -> io::Result<bool> {
        let root = self.held.repository.root();
        let Some((up, above)) = root.ancestors().enumerate().find(|(_, above)| outside.starts_with(above))
        else {
            return Ok(false);
        };
        let rest = outside.strip_prefix(above).expect("it was just found to be a prefix");
        let Some(first) = rest.components().next() else { return Ok(false) };
        let first = Path::new(first.as_os_str());
        let place = match up {
            1 => self.held.directory.join(revision),
            2 => self.held.directory.clone(),
            _ => return Ok(false),
        };
        let link = place.join(first);
        if let Ok(target) = std::fs::read_link(&link) {
            return Ok(target == above.join(first));
        }
        if link.exists()
            || ["tree", "target", WORK, "live", "run", "base", "head"]
                .iter()
                .any(|name| first == Path::new(name))
        {
            return Ok(false);
        }
        fs_err::create_dir_all(&place)?;
        symlink_directory(&above.join(first), &link)?;
        self.held.links.lock().unwrap_or_else(PoisonError::into_inner).push(link);
        Ok(true)
    }

    /// Points `live` to a revision, at once: whoever looks sees the old or the new one.
    pub fn point_at(&self, revision: &str) -> io::Result<()> {
        static FRESH: AtomicU32 = AtomicU32::new(0);
        if !is_revision_name(revision) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("'{revision}' is no revision's name"),
            ));
        }
        let fresh = FRESH.fetch_add(1, Ordering::Relaxed);
        let link = self.held.directory.join(format!("live.{}-{fresh}", std::process::id()));
        symlink_directory(Path::new(revision), &link)?;
        std::fs::rename(&link, self.held.directory.join("live"))
    }
}

/// Whether the name can be that of a revision's directory beside `live`.
pub(super) fn is_revision_name(name: &str) -> bool {
    !name.is_empty()
        && name != "live"
        && name != BUILDS
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(unix)]
fn symlink_directory(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink_directory(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(target, link)
}
