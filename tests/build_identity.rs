//! When two programs are the same once loaded, on small objects made here byte by byte: one of each format, with what
//! counts and what does not.

use cargo_benchgate::build::{Image, Likeness};

fn likeness(base: &[u8], head: &[u8]) -> Likeness {
    let image = |bytes: &[u8]| Image::read(bytes).expect("it is a program");
    image(base).likeness(&image(head))
}

/// Bytes that grow, little-endian.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8s(&mut self, values: &[u8]) -> &mut Self {
        self.0.extend_from_slice(values);
        self
    }

    fn u16s(&mut self, values: &[u16]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    fn u32s(&mut self, values: &[u32]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    fn u64s(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    /// Text, filled up with zeroes.
    fn text(&mut self, text: &str, length: usize) -> &mut Self {
        let end = self.0.len() + length;
        self.u8s(text.as_bytes());
        self.0.resize(end, 0);
        self
    }

    fn up_to(&mut self, length: usize) -> &mut Self {
        assert!(self.0.len() <= length, "{} bytes are there already", self.0.len());
        self.0.resize(length, 0);
        self
    }
}

const ALLOC: u64 = 2;
const CODE: u64 = 2 | 4;

/// An ELF program of sections: name, flags, address, content.
fn elf(sections: &[(&str, u64, u64, &[u8])]) -> Vec<u8> {
    let mut names = vec![0_u8];
    let mut name_of = |name: &str| {
        let at = names.len() as u32;
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        at
    };
    let offsets: Vec<u32> = sections.iter().map(|(name, ..)| name_of(name)).collect();
    let own_name = name_of(".shstrtab");
    let mut bytes = Bytes::default();
    bytes.u8s(b"\x7fELF\x02\x01\x01").up_to(16);
    let contents: usize = sections.iter().map(|(.., content)| content.len()).sum();
    let table = (64 + contents + names.len()) as u64;
    let count = sections.len() as u16 + 2;
    bytes.u16s(&[2, 62]).u32s(&[1]).u64s(&[0x1000, 0, table]).u32s(&[0]);
    bytes.u16s(&[64, 56, 0, 64, count, count - 1]);
    for (.., content) in sections {
        bytes.u8s(content);
    }
    bytes.u8s(&names).up_to(table as usize + 64);
    let mut offset = 64_u64;
    for ((_, flags, address, content), name) in sections.iter().zip(offsets) {
        bytes.u32s(&[name, 1]).u64s(&[*flags, *address, offset, content.len() as u64]);
        bytes.u32s(&[0, 0]).u64s(&[1, 0]);
        offset += content.len() as u64;
    }
    bytes.u32s(&[own_name, 3]).u64s(&[0, 0, offset, names.len() as u64]).u32s(&[0, 0]).u64s(&[1, 0]);
    bytes.0
}

fn plain_elf(code: &[u8], data: &[u8], build_id: &[u8], symbols: &[u8]) -> Vec<u8> {
    elf(&[
        (".text", CODE, 0x1000, code),
        (".rodata", ALLOC, 0x2000, data),
        (".note.gnu.build-id", ALLOC, 0x3000, build_id),
        (".strtab", 0, 0, symbols),
    ])
}

#[test]
fn elf_programs_that_differ_in_build_id_and_symbols_are_the_same() {
    let base = plain_elf(b"code", b"data", b"id 1", b"_ZN3own17h0123456789abcdefE");
    let head = plain_elf(b"code", b"data", b"id 2", b"_ZN3own17hfedcba9876543210E and longer");
    assert_ne!(base, head);
    assert_eq!(likeness(&base, &head), Likeness::Same);
}

#[test]
fn elf_programs_with_other_data_have_the_same_code_and_are_not_the_same() {
    let base = plain_elf(b"code", b"line 1", b"", b"");
    assert_eq!(likeness(&base, &plain_elf(b"code", b"line 2", b"", b"")), Likeness::SameCode);
    assert_eq!(likeness(&base, &plain_elf(b"code", b"line 12", b"", b"")), Likeness::SameCode);
}

#[test]
fn elf_programs_with_other_or_moved_code_are_different() {
    let base = plain_elf(b"code", b"data", b"", b"");
    assert_eq!(likeness(&base, &plain_elf(b"Code", b"data", b"", b"")), Likeness::Different);
    let moved = elf(&[(".text", CODE, 0x1010, b"code"), (".rodata", ALLOC, 0x2000, b"data")]);
    let unmoved = elf(&[(".text", CODE, 0x1000, b"code"), (".rodata", ALLOC, 0x2000, b"data")]);
    assert_eq!(likeness(&unmoved, &moved), Likeness::Different);
}

#[test]
fn elf_programs_with_one_section_more_or_other_flags_are_not_the_same() {
    let base = elf(&[(".text", CODE, 0x1000, b"code")]);
    let more = elf(&[(".text", CODE, 0x1000, b"code"), (".data", ALLOC, 0x2000, b"")]);
    assert_eq!(likeness(&base, &more), Likeness::SameCode);
    let writable = elf(&[(".text", CODE | 1, 0x1000, b"code")]);
    assert_eq!(likeness(&base, &writable), Likeness::Different);
}

/// A Mach-O program: UUID, signature and symbols are given apart from what is loaded.
fn mach_o(
    code: &[u8; 8],
    data: &[u8; 8],
    uuid: u8,
    signature: &[u8; 8],
    symbols: &[u8; 8],
    fixups: &[u8; 8],
) -> Vec<u8> {
    let mut bytes = Bytes::default();
    let segment = |bytes: &mut Bytes,
                   name: &str,
                   address: u64,
                   offset: u64,
                   size: u64,
                   section: Option<(&str, u32)>| {
        let count = u32::from(section.is_some());
        bytes.u32s(&[0x19, 72 + 80 * count]).text(name, 16).u64s(&[address, size, offset, size]);
        bytes.u32s(&[7, 5, count, 0]);
        if let Some((section, flags)) = section {
            bytes.text(section, 16).text(name, 16).u64s(&[address, size]);
            bytes.u32s(&[offset as u32, 0, 0, 0, flags, 0, 0, 0]);
        }
    };
    let contents = 1024_u64;
    let commands = 152 * 2 + 72 + 24 * 2 + 16 * 2 + 24;
    bytes.u32s(&[0xfeed_facf, 0x0100_0007, 3, 2, 8, commands, 0, 0]);
    segment(&mut bytes, "__TEXT", 0x1_0000_0000, contents, 8, Some(("__text", 0x8000_0400)));
    segment(&mut bytes, "__DATA", 0x1_0000_4000, contents + 8, 8, Some(("__data", 0)));
    segment(&mut bytes, "__LINKEDIT", 0x1_0000_8000, contents + 16, 24, None);
    bytes.u32s(&[0x1b, 24]).u8s(&[uuid; 16]);
    bytes.u32s(&[0x8000_0028, 24]).u64s(&[contents, 0]);
    bytes.u32s(&[0x8000_0034, 16, contents as u32 + 16, 8]);
    bytes.u32s(&[0x1d, 16, contents as u32 + 24, 8]);
    bytes.u32s(&[2, 24, contents as u32 + 32, 0, contents as u32 + 32, 8]);
    assert_eq!(bytes.0.len(), 32 + commands as usize);
    bytes.up_to(contents as usize).u8s(code).u8s(data).u8s(fixups).u8s(signature).u8s(symbols);
    bytes.0
}

#[test]
fn mach_o_programs_that_differ_in_uuid_signature_and_symbols_are_the_same() {
    let base = mach_o(b"machcode", b"the data", 1, b"signed 1", b"\0symbols", b"fix ups1");
    let head = mach_o(b"machcode", b"the data", 2, b"signed 2", b"\0SYMBOLS", b"fix ups1");
    assert_ne!(base, head);
    assert_eq!(likeness(&base, &head), Likeness::Same);
}

#[test]
fn mach_o_programs_with_other_code_data_or_fix_ups_are_not_the_same() {
    let base = mach_o(b"machcode", b"the data", 1, b"signed 1", b"\0symbols", b"fix ups1");
    let code = mach_o(b"othrcode", b"the data", 1, b"signed 1", b"\0symbols", b"fix ups1");
    let data = mach_o(b"machcode", b"odd data", 1, b"signed 1", b"\0symbols", b"fix ups1");
    let fixups = mach_o(b"machcode", b"the data", 1, b"signed 1", b"\0symbols", b"fix ups2");
    assert_eq!(likeness(&base, &code), Likeness::Different);
    assert_eq!(likeness(&base, &data), Likeness::SameCode);
    assert_eq!(likeness(&base, &fixups), Likeness::SameCode);
}

/// A PE program with a debug directory of one entry in its read-only data.
fn pe(code: &[u8; 8], data: &[u8; 8], stamp: u32, debug: &[u8; 8], check_sum: u32) -> Vec<u8> {
    let mut bytes = Bytes::default();
    bytes.u8s(b"MZ").up_to(0x3c).u32s(&[64]);
    bytes.u8s(b"PE\0\0").u16s(&[0x8664, 2]).u32s(&[stamp, 0, 0]).u16s(&[240, 0x22]);
    bytes.u16s(&[0x20b, 0]).u32s(&[0x200, 0x200, 0, 0x1000, 0x1000]).u64s(&[0x1_4000_0000]);
    bytes.u32s(&[0x1000, 0x200]).u16s(&[6, 0, 0, 0, 6, 0]).u32s(&[0, 0x3000, 0x200, check_sum]);
    bytes.u16s(&[3, 0x8160]).u64s(&[0x10_0000, 0x1000, 0x10_0000, 0x1000]).u32s(&[0, 16]);
    for directory in 0..16 {
        // The debug directory is the seventh.
        bytes.u32s(if directory == 6 { &[0x2008, 28] } else { &[0, 0] });
    }
    bytes.text(".text", 8).u32s(&[8, 0x1000, 0x200, 0x200, 0, 0, 0, 0x6000_0020]);
    bytes.text(".rdata", 8).u32s(&[44, 0x2000, 0x200, 0x400, 0, 0, 0, 0x4000_0040]);
    bytes.up_to(0x200).u8s(code).up_to(0x400).u8s(data);
    bytes.u32s(&[0, stamp, 0, 2, 8, 0x2024, 0x424]).u8s(debug).up_to(0x600);
    bytes.0
}

#[test]
fn pe_programs_that_differ_in_time_stamps_and_debug_information_are_the_same() {
    let base = pe(b"pe  code", b"the data", 1_700_000_000, b"guid 001", 1);
    let head = pe(b"pe  code", b"the data", 1_800_000_000, b"guid 002", 2);
    assert_ne!(base, head);
    assert_eq!(likeness(&base, &head), Likeness::Same);
}

#[test]
fn pe_programs_with_other_code_or_data_are_not_the_same() {
    let base = pe(b"pe  code", b"the data", 1, b"guid 001", 1);
    assert_eq!(likeness(&base, &pe(b"pe  CODE", b"the data", 1, b"guid 001", 1)), Likeness::Different);
    assert_eq!(likeness(&base, &pe(b"pe  code", b"THE data", 1, b"guid 001", 1)), Likeness::SameCode);
}

#[test]
fn programs_of_two_formats_are_different() {
    let (elf, pe) = (plain_elf(b"code", b"data", b"", b""), pe(b"pe  code", b"the data", 1, b"guid 001", 1));
    assert_eq!(likeness(&elf, &pe), Likeness::Different);
}

#[test]
fn torn_or_foreign_bytes_are_no_program_and_never_a_panic() {
    let whole = [
        plain_elf(b"code", b"data", b"id", b"symbols"),
        mach_o(b"machcode", b"the data", 1, b"signed 1", b"\0symbols", b"fix ups1"),
        pe(b"pe  code", b"the data", 1, b"guid 001", 1),
    ];
    for bytes in whole {
        for end in 0..bytes.len() {
            // A cut behind everything that is loaded may pass.
            let _ = Image::read(&bytes[..end]);
        }
        for at in 0..bytes.len().min(700) {
            let mut odd = bytes.clone();
            odd[at] = 0xff;
            let _ = Image::read(&odd[..]);
        }
    }
    for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF"] {
        assert!(Image::read(bytes).is_err());
    }
}
