//! Advisory locks on files, let go of at once when they are dropped.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// A lock that is held.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock, making the file where it is missing; `None` when somebody else holds it.
    pub(super) fn attempt(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let lock = Self(file);
            if lock.is_on(path) {
                return Ok(Some(lock));
            }
        }
    }

    /// Takes the lock, waiting for whoever holds it.
    pub(super) fn wait(path: &Path) -> io::Result<Self> {
        loop {
            let lock = Self(open(path)?);
            lock.0.lock()?;
            if lock.is_on(path) {
                return Ok(lock);
            }
        }
    }

    /// Whether the locked file still has that name. A clean-up may have removed it between opening and locking; then the
    /// lock guards nothing.
    #[cfg(unix)]
    fn is_on(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        match (self.0.metadata(), path.metadata()) {
            (Ok(open), Ok(named)) => identity(open) == identity(named),
            _ => false,
        }
    }

    #[cfg(not(unix))]
    fn is_on(&self, path: &Path) -> bool {
        path.exists()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is just being started holds a copy of the descriptor until its exec.
        let _ = self.0.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    Ok(fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)?.into_file())
}
