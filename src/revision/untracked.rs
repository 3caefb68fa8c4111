//! Which untracked files belong to the working tree: all but those in directories that call themselves caches.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What such a file begins with, by the Cache Directory Tagging Specification. Cargo puts one into target directories.
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Finds tagged directories, looking into each directory once.
#[derive(Debug, Default)]
pub(super) struct Caches {
    tagged: HashMap<PathBuf, bool>,
}

impl Caches {
    /// The outermost tagged directory `path` lies in, both relative to `root`. Where target directories are not ignored,
    /// they would otherwise be copied whole, and every build would make the tree dirty.
    pub(super) fn around(&mut self, root: &Path, path: &Path) -> Option<PathBuf> {
        let mut directory = PathBuf::new();
        for part in path.parent()?.components() {
            directory.push(part);
            let tagged = match self.tagged.get(&directory) {
                Some(tagged) => *tagged,
                None => {
                    let tagged = is_tagged(&root.join(&directory));
                    self.tagged.insert(directory.clone(), tagged);
                    tagged
                }
            };
            if tagged {
                return Some(directory);
            }
        }
        None
    }
}

fn is_tagged(directory: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    let read =
        std::fs::File::open(directory.join("CACHEDIR.TAG")).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == SIGNATURE
}
