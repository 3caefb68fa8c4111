//! Whether two programs are the same once they are loaded: their files may differ in what is never loaded.
//!
//! The names of symbols hold the version of their crate, so a version bump changes the file and not one loaded byte.
//! Compared is what the system maps: of ELF all allocated sections but the build id; of Mach-O all sections, the load
//! commands and the fix-ups, but not the UUID, the code signature and the symbol table; of PE all sections but the
//! time stamps and the debug directory. Mach-O and PE follow their formats' documents and are tried on small objects
//! only. What cannot be read is never the same as anything.

use std::ops::Range;
use std::path::Path;

use object::read::macho::{MachHeader, MachOFile};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile};
use object::{Object, ObjectSection, ReadCache, ReadRef, SectionFlags, SectionKind, elf, macho, pe};
use sha2::{Digest, Sha256};

use super::BuildError;

/// How two programs compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Nothing that is loaded differs.
    Same,
    /// The machine code is the same, byte for byte and at the same addresses; data differ.
    SameCode,
    /// The machine code differs, or one of them cannot be read.
    Different,
}

/// What is loaded of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Format, machine, entry point, and what else the headers tell the loader.
    headers: Vec<Vec<u8>>,
    sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    name: Vec<u8>,
    address: u64,
    size: u64,
    flags: u64,
    is_code: bool,
    digest: [u8; 32],
}

/// The error is shown to nobody but tests: what cannot be read is simply different.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

impl Image {
    /// Reads it from a file's bytes.
    ///
    /// # Errors
    /// Why the bytes are no program of a known format.
    pub fn read<'data, R: ReadRef<'data>>(bytes: R) -> Result<Self, String> {
        image(bytes).map_err(|error| error.to_string())
    }

    /// Reads it from a file, of which only what is needed is read. `Ok(None)`: it is no program of a known format.
    pub fn of_file(path: &Path) -> Result<Option<Self>, BuildError> {
        let file = fs_err::File::open(path).map_err(BuildError::io("compare an executable"))?;
        let cache = ReadCache::new(file.into_parts().0);
        Ok(Self::read(&cache).ok())
    }

    /// How two compare.
    pub fn likeness(&self, other: &Self) -> Likeness {
        if self == other {
            return Likeness::Same;
        }
        let code = |image: &Self| -> Vec<Section> {
            image.sections.iter().filter(|section| section.is_code).cloned().collect()
        };
        let (own, others) = (code(self), code(other));
        if !own.is_empty() && own == others { Likeness::SameCode } else { Likeness::Different }
    }
}

fn image<'data, R: ReadRef<'data>>(bytes: R) -> Outcome<Image> {
    let file = object::File::parse(bytes)?;
    let mut headers = vec![
        format!("{:?} {:?} {:?}", file.format(), file.architecture(), file.endianness()).into_bytes(),
        file.entry().to_le_bytes().to_vec(),
    ];
    let mut unseen: Vec<Range<u64>> = Vec::new();
    match &file {
        object::File::MachO32(file) => headers.extend(macho_headers(file, bytes)?),
        object::File::MachO64(file) => headers.extend(macho_headers(file, bytes)?),
        object::File::Pe32(file) => headers.extend(pe_headers(file, &mut unseen)?),
        object::File::Pe64(file) => headers.extend(pe_headers(file, &mut unseen)?),
        _ => {}
    }
    let mut sections = Vec::new();
    for section in file.sections() {
        let flags = match section.flags() {
            SectionFlags::Elf { sh_flags, .. } if !sh_flags.contains(elf::SHF_ALLOC) => continue,
            SectionFlags::Elf { sh_flags, .. } => sh_flags.0,
            SectionFlags::MachO { flags, .. } => u64::from(flags.0),
            SectionFlags::Coff { characteristics } => u64::from(characteristics.0),
            _ => 0,
        };
        let name = section.name_bytes()?;
        if name == b".note.gnu.build-id" {
            continue;
        }
        let mut whole = section.segment_name_bytes()?.unwrap_or_default().to_vec();
        whole.push(0);
        whole.extend_from_slice(name);
        sections.push(Section {
            name: whole,
            address: section.address(),
            size: section.size(),
            flags,
            is_code: section.kind() == SectionKind::Text,
            digest: digest(section.data()?, section.address(), &unseen),
        });
    }
    if sections.is_empty() {
        // A file without sections could be anything.
        return Err("it has no sections".into());
    }
    Ok(Image { headers, sections })
}

/// The digest of a section's bytes, with zeroes in place of what is at the unseen addresses.
fn digest(bytes: &[u8], address: u64, unseen: &[Range<u64>]) -> [u8; 32] {
    let end = address.saturating_add(bytes.len() as u64);
    let inside: Vec<Range<usize>> = unseen
        .iter()
        .filter(|range| range.start < end && address < range.end)
        .map(|range| {
            let within = |at: u64| at.clamp(address, end).saturating_sub(address) as usize;
            within(range.start)..within(range.end)
        })
        .collect();
    if inside.is_empty() {
        return Sha256::digest(bytes).into();
    }
    let mut bytes = bytes.to_vec();
    for range in inside {
        bytes[range].fill(0);
    }
    Sha256::digest(&bytes).into()
}

/// The load commands, but those that tell of the file alone; of those that point to data of the loader, the data.
fn macho_headers<'data, M: MachHeader, R: ReadRef<'data>>(
    file: &MachOFile<'data, M, R>,
    bytes: R,
) -> Outcome<Vec<Vec<u8>>> {
    let endian = file.endian();
    let mut headers = Vec::new();
    let mut commands = file.macho_load_commands()?;
    while let Some(command) = commands.next()? {
        let pointed: Vec<(u32, u32)> = match command.cmd() {
            macho::LC_UUID
            | macho::LC_CODE_SIGNATURE
            | macho::LC_SYMTAB
            | macho::LC_DYSYMTAB
            | macho::LC_FUNCTION_STARTS
            | macho::LC_DATA_IN_CODE
            // Their sections are compared; the last segment holds what is listed here.
            | macho::LC_SEGMENT
            | macho::LC_SEGMENT_64 => continue,
            macho::LC_DYLD_CHAINED_FIXUPS | macho::LC_DYLD_EXPORTS_TRIE => {
                let data: &macho::LinkeditDataCommand<M::Endian> = command.data()?;
                vec![(data.dataoff.get(endian), data.datasize.get(endian))]
            }
            macho::LC_DYLD_INFO | macho::LC_DYLD_INFO_ONLY => {
                let info: &macho::DyldInfoCommand<M::Endian> = command.data()?;
                [
                    (&info.rebase_off, &info.rebase_size),
                    (&info.bind_off, &info.bind_size),
                    (&info.weak_bind_off, &info.weak_bind_size),
                    (&info.lazy_bind_off, &info.lazy_bind_size),
                    (&info.export_off, &info.export_size),
                ]
                .map(|(offset, size)| (offset.get(endian), size.get(endian)))
                .to_vec()
            }
            _ => {
                headers.push(command.raw_data().to_vec());
                continue;
            }
        };
        for (offset, size) in pointed {
            let data = bytes
                .read_bytes_at(offset.into(), size.into())
                .map_err(|()| "data of the loader lie outside the file")?;
            headers.push(Sha256::digest(data).to_vec());
        }
    }
    Ok(headers)
}

/// What the headers tell the loader. The addresses of time stamps and debug information go to `unseen`.
fn pe_headers<'data, P: ImageNtHeaders, R: ReadRef<'data>>(
    file: &PeFile<'data, P, R>,
    unseen: &mut Vec<Range<u64>>,
) -> Outcome<Vec<Vec<u8>>> {
    let optional = file.nt_headers().optional_header();
    let base = optional.image_base();
    let at = |address: u32, size: u32| {
        let start = base.saturating_add(address.into());
        start..start.saturating_add(size.into())
    };
    let mut text = format!(
        "{base:x} {:?} {:?} {:x} {:x} {:x} {:x}",
        optional.subsystem(),
        optional.dll_characteristics(),
        optional.size_of_stack_reserve(),
        optional.size_of_stack_commit(),
        optional.size_of_heap_reserve(),
        optional.size_of_heap_commit(),
    );
    let directories = file.data_directories();
    for (number, directory) in directories.enumerate() {
        if [pe::IMAGE_DIRECTORY_ENTRY_SECURITY, pe::IMAGE_DIRECTORY_ENTRY_DEBUG].contains(&number) {
            continue;
        }
        let (address, size) = directory.address_range();
        text.push_str(&format!(" {address:x}+{size:x}"));
    }
    let sections = file.section_table();
    if let Some(exports) = directories.get(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) {
        // The second word of an export directory is a time stamp.
        let (address, size) = exports.address_range();
        if 8 <= size {
            unseen.push(at(address.saturating_add(4), 4));
        }
    }
    if let Some(debug) = directories.get(pe::IMAGE_DIRECTORY_ENTRY_DEBUG) {
        let (address, size) = debug.address_range();
        unseen.push(at(address, size));
        let data = debug.data(file.data(), &sections).unwrap_or_default();
        let entry = size_of::<pe::ImageDebugDirectory>();
        for bytes in data.chunks_exact(entry) {
            let (entry, _) = object::pod::from_bytes::<pe::ImageDebugDirectory>(bytes)
                .map_err(|()| "a torn debug directory")?;
            let (address, size) = (
                entry.address_of_raw_data.get(object::LittleEndian),
                entry.size_of_data.get(object::LittleEndian),
            );
            if address != 0 {
                unseen.push(at(address, size));
            }
        }
    }
    Ok(vec![text.into_bytes()])
}
