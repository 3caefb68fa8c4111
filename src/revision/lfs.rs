//! Files that Git LFS keeps elsewhere and that are only pointers here.

use std::io::Read;
use std::path::{Path, PathBuf};

/// What a pointer file begins with.
const SIGNATURE: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Pointers are smaller than this by their specification. Bytes.
const LARGEST: u64 = 1024;

/// A note that names the files that are pointers; `None` when there are none. Only asked where an attribute file speaks
/// of LFS, since it looks into every small file.
pub(super) fn pointers<'a>(root: &Path, files: impl Iterator<Item = &'a PathBuf> + Clone) -> Option<String> {
    if !files.clone().any(|path| is_attributes(path) && speaks_of_lfs(&root.join(path))) {
        return None;
    }
    let found: Vec<&PathBuf> = files.filter(|path| is_pointer(&root.join(path))).collect();
    let first = found.first()?.display();
    let which = match found.len() {
        1 => format!("'{first}' is a Git LFS pointer"),
        2 => format!("'{first}' and 1 more file are Git LFS pointers"),
        more => format!("'{first}' and {} more files are Git LFS pointers", more - 1),
    };
    Some(format!(
        "{which}, not the content: whatever reads them reads a few lines of text; run 'git lfs install' and 'git lfs fetch --all' \
         once, then run this again"
    ))
}

fn is_attributes(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitattributes")
}

fn speaks_of_lfs(attributes: &Path) -> bool {
    std::fs::read(attributes).is_ok_and(|text| memchr::memmem::find(&text, b"filter=lfs").is_some())
}

fn is_pointer(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    if !metadata.is_file() || LARGEST <= metadata.len() {
        return false;
    }
    let mut start = [0; SIGNATURE.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == SIGNATURE
}
