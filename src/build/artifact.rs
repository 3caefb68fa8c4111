//! What an executable file itself tells: its digest, the harness marks in its bytes.

use std::io::Read;
use std::path::Path;

use memchr::memmem::Finder;
use sha2::{Digest, Sha256};

use super::BuildError;
use crate::harness::Marker;

const CHUNK: usize = 1 << 20;

/// The facts of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    /// The harness marks that occur in it.
    pub markers: Vec<Marker>,
}

impl Artifact {
    /// Reads the file once, in pieces: executables with debug information can be larger than we want to be.
    pub fn read(path: &Path) -> Result<Self, BuildError> {
        let mut file = fs_err::File::open(path).map_err(BuildError::io("read an executable"))?;
        Self::scan(&mut file, CHUNK).map_err(BuildError::io("read an executable"))
    }

    fn scan(source: &mut impl Read, chunk: usize) -> std::io::Result<Self> {
        let marks: Vec<&[u8]> = Marker::ALL.iter().map(|marker| marker.bytes()).collect();
        let mut hasher = Sha256::new();
        let found = search(source, &marks, chunk, |bytes| hasher.update(bytes))?;
        let markers = Marker::ALL.iter().zip(&found).filter(|(_, found)| **found).map(|(name, _)| *name);
        Ok(Self { sha256: hexadecimal(&hasher.finalize()), markers: markers.collect() })
    }
}

/// SHA-256 of a file, in hexadecimal.
pub(super) fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    search(&mut fs_err::File::open(path)?, &[], CHUNK, |bytes| hasher.update(bytes))?;
    Ok(hexadecimal(&hasher.finalize()))
}

/// Which of these words occur in the file.
pub fn words_in(path: &Path, words: &[&str]) -> std::io::Result<Vec<bool>> {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    search(&mut fs_err::File::open(path)?, &words, CHUNK, |_| {})
}

/// Which of these byte strings occur; every byte is shown once.
fn search(
    source: &mut impl Read,
    needles: &[&[u8]],
    chunk: usize,
    mut see: impl FnMut(&[u8]),
) -> std::io::Result<Vec<bool>> {
    let overlap = needles.iter().map(|needle| needle.len().saturating_sub(1)).max().unwrap_or(0);
    let finders: Vec<_> = needles.iter().map(Finder::new).collect();
    let mut found = vec![false; needles.len()];
    let mut window = Vec::with_capacity(chunk + overlap);
    loop {
        let old = window.len();
        let read = source.by_ref().take(chunk as u64).read_to_end(&mut window)?;
        if read == 0 {
            return Ok(found);
        }
        see(&window[old..]);
        for (found, finder) in found.iter_mut().zip(&finders) {
            *found = *found || finder.find(&window).is_some();
        }
        // A needle may lie across two pieces.
        window.drain(..window.len().saturating_sub(overlap));
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_wherever_the_pieces_are_cut() {
        let bytes = b"....CRITERION_HOME....Tango benchmarking..";
        for chunk in 1..bytes.len() + 2 {
            let artifact = Artifact::scan(&mut &bytes[..], chunk).expect("memory can be read");
            assert_eq!(artifact.markers, [Marker::Criterion, Marker::Tango], "chunk {chunk}");
        }
        for &marker in Marker::ALL {
            let program = [b"\x7fELF..".as_slice(), marker.bytes(), b"\0tail"].concat();
            let artifact = Artifact::scan(&mut &program[..], CHUNK).expect("memory can be read");
            assert_eq!(artifact.markers, [marker]);
        }
        let none = Artifact::scan(&mut &b"CRITERION HOME"[..], 4).expect("memory can be read");
        assert_eq!(none.markers, []);
    }

    #[test]
    fn the_digest_is_sha_256() {
        let artifact = Artifact::scan(&mut &b"abc"[..], 2).expect("memory can be read");
        assert_eq!(artifact.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
