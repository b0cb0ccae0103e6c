//! Names of generated code for profilers and debuggers (knob `VITRIC_SYMBOLS`).
//!
//! *perf* reads `/tmp/perf-PID.map`, which has one line with start and size (hexadecimal) and name
//! for each piece of code. A line cannot be removed, so named code is never unmapped.
//!
//! *GDB* stops at an empty function with the name that its JIT interface prescribes ("JIT
//! Compilation Interface" in its manual). It then reads a list of ELF files in memory. This module
//! writes one file with one symbol per program.
//!
//! The interface's two symbols are hidden, because the driver library exports only the loader's
//! entry points. GDB reads them from the library's symbol table.

use std::fs::{File, OpenOptions, remove_file};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use parking_lot::Mutex;
use vitric_base::knobs;

/// Tools that receive the names of generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tools {
    /// perf, through its map file.
    pub perf: bool,
    /// GDB, through its JIT interface.
    pub gdb: bool,
}

impl Tools {
    /// Returns the tools that the knob `VITRIC_SYMBOLS` selects.
    pub fn chosen() -> Self {
        static CHOSEN: OnceLock<Tools> = OnceLock::new();
        *CHOSEN.get_or_init(|| match knobs::values().text("VITRIC_SYMBOLS") {
            "perf" => Self { perf: true, gdb: false },
            "gdb" => Self { perf: false, gdb: true },
            "all" => Self { perf: true, gdb: true },
            _ => Self { perf: false, gdb: false },
        })
    }

    /// Returns true if any tool is selected.
    pub fn any(self) -> bool {
        self.perf || self.gdb
    }
}

/// Maximum number of characters in a name. Authors of shaders choose the names of entry points.
const MAX_NAME_CHARS: usize = 200;

/// Returns a name without control characters and of limited length, which fits in one line.
fn in_one_line(name: &str) -> String {
    name.chars().take(MAX_NAME_CHARS).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Tells the tools the name of the code at `address`. GDB forgets it when the result is dropped.
pub fn announce(tools: Tools, address: usize, bytes: usize, name: &str) -> Option<GdbSymbol> {
    let name = in_one_line(name);
    if tools.perf
        && let Err(problem) = append(&format!("{address:x} {bytes:x} {name}\n"))
    {
        log::warn!("{} cannot be written: {problem}", map_path().display());
    }
    (tools.gdb && cfg!(all(target_arch = "x86_64", target_os = "linux")))
        .then(|| gdb::register(elf(address, bytes, &name)))
}

/// Returns the path of the file where perf expects the names of this process.
pub fn map_path() -> PathBuf {
    format!("/tmp/perf-{}.map", std::process::id()).into()
}

/// Appends a line to perf's map. The first call replaces the file, so that it never writes to a
/// file of an earlier process or to a planted link.
fn append(line: &str) -> std::io::Result<()> {
    static MAP: Mutex<Option<File>> = Mutex::new(None);
    let mut map = MAP.lock();
    let file = match &mut *map {
        Some(file) => file,
        none => {
            let path = map_path();
            drop(remove_file(&path));
            none.insert(OpenOptions::new().append(true).create_new(true).open(path)?)
        }
    };
    file.write_all(line.as_bytes())
}

/// Section names, which the symbol's name follows.
const STRINGS: &str = "\0.text\0.symtab\0.strtab\0";

/// Size of an ELF header, and of a section header, in bytes.
const HEADER: usize = 64;

/// Creates an ELF file for x86-64 with one function symbol. It contains no code, because the code
/// is already in memory.
fn elf(address: usize, bytes: usize, name: &str) -> Box<[u8]> {
    let (address, bytes) = (address as u64, bytes as u64);
    let strings = format!("{STRINGS}{name}\0");
    let symbols = (HEADER + strings.len()).next_multiple_of(8);
    let sections = symbols + 48;
    let mut out = Vec::with_capacity(sections + 4 * HEADER);
    // Identification (64 bits, little-endian, version 1, System V), then type executable, machine
    // x86-64, version 1.
    out.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let halves =
        |out: &mut Vec<u8>, words: &[u16]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let words =
        |out: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let longs =
        |out: &mut Vec<u8>, words: &[u64]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    halves(&mut out, &[2, 62]);
    words(&mut out, &[1]);
    // Entry, no segments, position of the sections, flags, then sizes and counts, and the index of
    // the string section.
    longs(&mut out, &[address, 0, sections as u64]);
    words(&mut out, &[0]);
    halves(&mut out, &[HEADER as u16, 56, 0, HEADER as u16, 4, 3]);
    out.extend_from_slice(strings.as_bytes());
    // Null symbol, then a global function in section 1.
    out.resize(symbols + 24, 0);
    words(&mut out, &[STRINGS.len() as u32]);
    halves(&mut out, &[0x12, 1]);
    longs(&mut out, &[address, bytes]);
    // Null section, .text (no bytes, allocated, executable), .symtab, .strtab. Fields of each:
    // name and type; flags, address, position and size; link and info; alignment and entry size.
    out.resize(sections + HEADER, 0);
    let mut section = |kind: [u32; 2], place: [u64; 4], link: [u32; 2], entries: [u64; 2]| {
        words(&mut out, &kind);
        longs(&mut out, &place);
        words(&mut out, &link);
        longs(&mut out, &entries);
    };
    section([1, 8], [6, address, 0, bytes], [0, 0], [1, 0]);
    section([7, 2], [0, 0, symbols as u64, 48], [3, 1], [8, 24]);
    section([15, 3], [0, 0, HEADER as u64, strings.len() as u64], [0, 0], [1, 0]);
    out.into_boxed_slice()
}

pub use gdb::GdbSymbol;

/// JIT interface of GDB.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod gdb {
    use std::ptr::null_mut;

    use parking_lot::Mutex;

    /// Member of the list, in the layout that GDB reads.
    #[repr(C)]
    struct Entry {
        next: *mut Entry,
        previous: *mut Entry,
        file: *const u8,
        bytes: u64,
    }

    /// Descriptor that GDB reads when it stops in the function.
    #[repr(C)]
    struct Descriptor {
        version: u32,
        action: u32,
        relevant: *mut Entry,
        first: *mut Entry,
    }

    const REGISTER: u32 = 1;
    const UNREGISTER: u32 = 2;

    // The symbols are weak because a program that links the driver statically may contain another
    // compiler with this interface.
    std::arch::global_asm!(
        ".pushsection .text",
        ".weak __jit_debug_register_code",
        ".hidden __jit_debug_register_code",
        ".type __jit_debug_register_code, @function",
        "__jit_debug_register_code: ret",
        ".size __jit_debug_register_code, 1",
        ".popsection",
        ".pushsection .data",
        ".weak __jit_debug_descriptor",
        ".hidden __jit_debug_descriptor",
        ".type __jit_debug_descriptor, @object",
        ".size __jit_debug_descriptor, 24",
        ".balign 8",
        "__jit_debug_descriptor: .long 1, 0",
        ".quad 0, 0",
        ".popsection",
    );

    unsafe extern "C" {
        fn __jit_debug_register_code();
        static mut __jit_debug_descriptor: Descriptor;
    }

    /// Lock for changes of the list.
    static LIST: Mutex<()> = Mutex::new(());

    /// Name that GDB knows until this value is dropped.
    #[derive(Debug)]
    pub struct GdbSymbol {
        entry: *mut Entry,
        file: Box<[u8]>,
    }

    // SAFETY: the entry belongs to this value and is accessed only under the list's lock. The file
    // is never written.
    unsafe impl Send for GdbSymbol {}
    // SAFETY: a shared reference permits only reading the file, which is never written.
    unsafe impl Sync for GdbSymbol {}

    impl GdbSymbol {
        /// Returns the ELF file.
        pub fn file(&self) -> &[u8] {
            &self.file
        }
    }

    /// Registers an ELF file with GDB.
    pub fn register(file: Box<[u8]>) -> GdbSymbol {
        let _guard = LIST.lock();
        let (bytes, place) = (file.len() as u64, file.as_ptr());
        // SAFETY: the descriptor is defined above with this layout. The descriptor and the entries
        // in its list are accessed only under the lock. All entries in the list are alive, because
        // each leaves the list before it is freed.
        let entry = unsafe {
            let first = __jit_debug_descriptor.first;
            let entry = Box::into_raw(Box::new(Entry { next: first, previous: null_mut(), file: place, bytes }));
            if let Some(first) = first.as_mut() {
                first.previous = entry;
            }
            __jit_debug_descriptor.first = entry;
            notify(REGISTER, entry);
            entry
        };
        GdbSymbol { entry, file }
    }

    /// Notifies GDB of a change to an entry.
    ///
    /// # Safety
    /// The caller must hold the list's lock, and the entry must be alive.
    unsafe fn notify(action: u32, entry: *mut Entry) {
        // SAFETY: the lock gives the caller exclusive access to the descriptor. The function is a
        // single `ret`.
        unsafe {
            __jit_debug_descriptor.action = action;
            __jit_debug_descriptor.relevant = entry;
            __jit_debug_register_code();
            __jit_debug_descriptor.action = 0;
            __jit_debug_descriptor.relevant = null_mut();
        }
    }

    impl Drop for GdbSymbol {
        fn drop(&mut self) {
            let _guard = LIST.lock();
            // SAFETY: the lock gives exclusive access to the list. `Box::into_raw` created the
            // entry, and nothing points to it once it has left the list.
            unsafe {
                let Entry { next, previous, .. } = *self.entry;
                if let Some(next) = next.as_mut() {
                    next.previous = previous;
                }
                match previous.as_mut() {
                    Some(previous) => previous.next = next,
                    None => __jit_debug_descriptor.first = next,
                }
                notify(UNREGISTER, self.entry);
                drop(Box::from_raw(self.entry));
            }
        }
    }

    /// Returns the ELF files in the list, the newest first.
    #[cfg(test)]
    pub fn listed() -> Vec<Vec<u8>> {
        let _guard = LIST.lock();
        let mut files = Vec::new();
        // SAFETY: the lock gives exclusive access to the list. The file of an entry lives as long
        // as the entry.
        unsafe {
            let mut entry = __jit_debug_descriptor.first;
            while let Some(found) = entry.as_ref() {
                files.push(std::slice::from_raw_parts(found.file, found.bytes as usize).to_vec());
                entry = found.next;
            }
        }
        files
    }
}

/// Replacement for other machines, which have no generated code.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod gdb {
    pub use std::convert::Infallible as GdbSymbol;

    pub fn register(_: Box<[u8]>) -> GdbSymbol {
        unreachable!("`announce` registers nothing on this machine")
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;

    fn long(file: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
    }

    #[derive(Debug, PartialEq)]
    struct Symbol {
        name: String,
        address: u64,
        bytes: u64,
    }

    /// Returns the last symbol of an ELF file, read like a debugger does.
    fn symbol(file: &[u8]) -> Symbol {
        assert_eq!((&file[..7], file[58]), (b"\x7fELF\x02\x01\x01".as_slice(), 64));
        let section = |number: usize| &file[long(file, 40) as usize + 64 * number..][..64];
        let (symbols, strings) = (section(2), section(3));
        assert_eq!((symbols[4], symbols[40], strings[4]), (2, 3, 3));
        let symbol = &file[(long(symbols, 24) + long(symbols, 32) - 24) as usize..][..24];
        let names = &file[long(strings, 24) as usize..][..long(strings, 32) as usize];
        let name = u32::from_le_bytes(symbol[..4].try_into().unwrap()) as usize;
        let name = std::ffi::CStr::from_bytes_until_nul(&names[name..]).unwrap();
        let (address, bytes) = (long(symbol, 8), long(symbol, 16));
        assert_eq!((long(section(1), 16), long(section(1), 32)), (address, bytes), "the section is the code");
        Symbol { name: name.to_str().unwrap().to_owned(), address, bytes }
    }

    fn is_listed(name: &str) -> bool {
        gdb::listed().iter().any(|file| symbol(file).name == name)
    }

    #[test]
    fn names_are_told_to_gdb_and_taken_back() {
        let tools = Tools { perf: false, gdb: true };
        let names = ["vitric::one", "vitric::two", "vitric::three"];
        let mut kept: Vec<_> =
            names.iter().map(|name| announce(tools, 0x1234_5678_9000, 0x321, name).unwrap()).collect();
        let two = Symbol { name: "vitric::two".to_owned(), address: 0x1234_5678_9000, bytes: 0x321 };
        assert_eq!(symbol(kept[1].file()), two);
        assert!(names.iter().all(|name| is_listed(name)));
        drop(kept.remove(1));
        assert_eq!(names.map(is_listed), [true, false, true]);
        drop(kept.pop());
        assert_eq!(names.map(is_listed), [true, false, false]);
        drop(kept);
        assert!(!names.iter().any(|name| is_listed(name)));
    }

    #[test]
    fn names_are_kept_short() {
        assert_eq!(in_one_line(&"\u{e9}".repeat(1000)), "\u{e9}".repeat(MAX_NAME_CHARS));
    }
}
