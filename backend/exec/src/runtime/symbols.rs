//! Names of generated code, for people who profile and debug (knob `VITRIC_SYMBOLS`).
//!
//! *perf* reads `/tmp/perf-PID.map`: a line with start and size (hexadecimal) and name for each piece of code. There is no way to
//! take a line back, so code that has one is never unmapped.
//!
//! *GDB* stops at an empty function of the name that its JIT interface prescribes ("JIT Compilation Interface" in its manual) and then
//! reads a list of ELF files in memory: here one per program, of one symbol. The interface's two symbols are hidden, as the
//! driver library exports nothing but the loader's entry points; GDB reads them from the library's symbol table.

use std::fs::{File, OpenOptions, remove_file};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use parking_lot::Mutex;
use vitric_base::knobs;

/// Which tools are told the names of generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tools {
    /// perf, by its map file.
    pub perf: bool,
    /// GDB, by its JIT interface.
    pub gdb: bool,
}

impl Tools {
    /// What the knob `VITRIC_SYMBOLS` says.
    pub fn chosen() -> Self {
        static CHOSEN: OnceLock<Tools> = OnceLock::new();
        *CHOSEN.get_or_init(|| match knobs::values().text("VITRIC_SYMBOLS") {
            "perf" => Self { perf: true, gdb: false },
            "gdb" => Self { perf: false, gdb: true },
            "all" => Self { perf: true, gdb: true },
            _ => Self { perf: false, gdb: false },
        })
    }

    /// Whether anybody wants names.
    pub fn any(self) -> bool {
        self.perf || self.gdb
    }
}

/// Most characters of a name: entry points are named by whoever wrote the shader.
const LONGEST_NAME: usize = 200;

/// A name that stands in one line.
fn in_one_line(name: &str) -> String {
    name.chars().take(LONGEST_NAME).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Tells the tools the name of the code at `address`. GDB forgets it when the result is dropped.
pub fn announce(tools: Tools, address: usize, bytes: usize, name: &str) -> Option<Registered> {
    let name = in_one_line(name);
    if tools.perf
        && let Err(problem) = append(&format!("{address:x} {bytes:x} {name}\n"))
    {
        log::warn!("{} cannot be written: {problem}", map_path().display());
    }
    (tools.gdb && cfg!(all(target_arch = "x86_64", target_os = "linux")))
        .then(|| gdb::register(elf(address, bytes, &name)))
}

/// Where perf looks for the names of this process.
pub fn map_path() -> PathBuf {
    format!("/tmp/perf-{}.map", std::process::id()).into()
}

/// Adds a line to perf's map. The file is made anew by the first one: what an earlier process of the same number left there, and
/// links that somebody else put there, are not written to.
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

/// Section names, and after them the symbol's.
const STRINGS: &str = "\0.text\0.symtab\0.strtab\0";

/// Bytes of an ELF header, and of a section's.
const HEADER: usize = 64;

/// An ELF file for x86-64 with one function symbol and no bytes of code: those are in memory already.
fn elf(address: usize, bytes: usize, name: &str) -> Box<[u8]> {
    let (address, bytes) = (address as u64, bytes as u64);
    let strings = format!("{STRINGS}{name}\0");
    let symbols = (HEADER + strings.len()).next_multiple_of(8);
    let sections = symbols + 48;
    let mut out = Vec::with_capacity(sections + 4 * HEADER);
    // Identification: 64 bits, little-endian, version 1, System V. Then: executable, x86-64, version 1.
    out.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let halves =
        |out: &mut Vec<u8>, words: &[u16]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let words =
        |out: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let longs =
        |out: &mut Vec<u8>, words: &[u64]| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    halves(&mut out, &[2, 62]);
    words(&mut out, &[1]);
    // Entry, no segments, where the sections are, flags; sizes and counts, and which section holds the strings.
    longs(&mut out, &[address, 0, sections as u64]);
    words(&mut out, &[0]);
    halves(&mut out, &[HEADER as u16, 56, 0, HEADER as u16, 4, 3]);
    out.extend_from_slice(strings.as_bytes());
    // The symbol that is none, then a global function in section 1.
    out.resize(symbols + 24, 0);
    words(&mut out, &[STRINGS.len() as u32]);
    halves(&mut out, &[0x12, 1]);
    longs(&mut out, &[address, bytes]);
    // The section that is none, .text (no bytes; in memory, executable), .symtab, .strtab. Each: name and type; flags, address,
    // place, size; link and info; alignment, size of an entry.
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

pub use gdb::Registered;

/// GDB's JIT interface.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod gdb {
    use std::ptr::null_mut;

    use parking_lot::Mutex;

    /// A member of the list, as GDB reads it.
    #[repr(C)]
    struct Entry {
        next: *mut Entry,
        previous: *mut Entry,
        file: *const u8,
        bytes: u64,
    }

    /// What GDB looks at when it stops in the function.
    #[repr(C)]
    struct Descriptor {
        version: u32,
        action: u32,
        relevant: *mut Entry,
        first: *mut Entry,
    }

    const REGISTER: u32 = 1;
    const UNREGISTER: u32 = 2;

    // Weak: a program that the driver is linked to statically may have another compiler with the same interface.
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

    /// Taken by whoever changes the list.
    static LIST: Mutex<()> = Mutex::new(());

    /// A name that GDB knows until this is dropped.
    #[derive(Debug)]
    pub struct Registered {
        entry: *mut Entry,
        file: Box<[u8]>,
    }

    // SAFETY: the entry belongs to this value and is followed only under the list's lock; the file is never written.
    unsafe impl Send for Registered {}
    // SAFETY: nothing is done through a shared reference but reading the file, which is
    // never written.
    unsafe impl Sync for Registered {}

    impl Registered {
        /// The ELF file.
        pub fn file(&self) -> &[u8] {
            &self.file
        }
    }

    /// Tells GDB of an ELF file.
    pub fn register(file: Box<[u8]>) -> Registered {
        let _guard = LIST.lock();
        let (bytes, place) = (file.len() as u64, file.as_ptr());
        // SAFETY: the descriptor is defined above with this layout and is accessed only here and in `drop`, under the lock; so are
        // the entries in its list, all of which are alive: each leaves the list before it is freed.
        let entry = unsafe {
            let first = __jit_debug_descriptor.first;
            let entry = Box::into_raw(Box::new(Entry { next: first, previous: null_mut(), file: place, bytes }));
            if let Some(first) = first.as_mut() {
                first.previous = entry;
            }
            __jit_debug_descriptor.first = entry;
            tell(REGISTER, entry);
            entry
        };
        Registered { entry, file }
    }

    /// Lets GDB look at an entry.
    ///
    /// # Safety
    /// Under the list's lock, with an entry that is alive.
    unsafe fn tell(action: u32, entry: *mut Entry) {
        // SAFETY: the lock makes the descriptor the caller's; the function is one `ret`.
        unsafe {
            __jit_debug_descriptor.action = action;
            __jit_debug_descriptor.relevant = entry;
            __jit_debug_register_code();
            __jit_debug_descriptor.action = 0;
            __jit_debug_descriptor.relevant = null_mut();
        }
    }

    impl Drop for Registered {
        fn drop(&mut self) {
            let _guard = LIST.lock();
            // SAFETY: the lock makes the list the caller's; the entry was made by
            // `Box::into_raw` and nothing points to it once it left the list.
            unsafe {
                let Entry { next, previous, .. } = *self.entry;
                if let Some(next) = next.as_mut() {
                    next.previous = previous;
                }
                match previous.as_mut() {
                    Some(previous) => previous.next = next,
                    None => __jit_debug_descriptor.first = next,
                }
                tell(UNREGISTER, self.entry);
                drop(Box::from_raw(self.entry));
            }
        }
    }

    /// The ELF files in the list, the newest first.
    #[cfg(test)]
    pub fn listed() -> Vec<Vec<u8>> {
        let _guard = LIST.lock();
        let mut files = Vec::new();
        // SAFETY: the lock makes the list the caller's; an entry's file lives as long
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

/// There is no generated code elsewhere.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod gdb {
    /// A name that GDB knows: there is none here.
    #[derive(Debug)]
    pub enum Registered {}

    pub fn register(_: Box<[u8]>) -> Registered {
        unreachable!("`announce` registers nothing on this machine")
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;
    use crate::runtime::native::Native;
    use vitric_codegen::{Encoded, Generated};

    fn long(file: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
    }

    /// Name, address and size of an ELF file's last symbol, found as a debugger finds them.
    fn symbol(file: &[u8]) -> (String, u64, u64) {
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
        (name.to_str().unwrap().to_owned(), address, bytes)
    }

    fn is_listed(name: &str) -> bool {
        gdb::listed().iter().any(|file| symbol(file).0 == name)
    }

    #[test]
    fn names_are_told_to_gdb_and_taken_back() {
        let tools = Tools { perf: false, gdb: true };
        let names = ["vitric::one", "vitric::two", "vitric::three"];
        let mut kept: Vec<_> =
            names.iter().map(|name| announce(tools, 0x1234_5678_9000, 0x321, name).unwrap()).collect();
        assert_eq!(symbol(kept[1].file()), ("vitric::two".to_owned(), 0x1234_5678_9000, 0x321));
        assert!(names.iter().all(|name| is_listed(name)));
        drop(kept.remove(1));
        assert_eq!(names.map(is_listed), [true, false, true]);
        drop(kept.pop());
        assert_eq!(names.map(is_listed), [true, false, false]);
        drop(kept);
        assert!(!names.iter().any(|name| is_listed(name)));
    }

    #[test]
    fn names_are_written_for_perf() {
        let tools = Tools { perf: true, gdb: false };
        assert!(announce(tools, 0xabc0, 0x40, "vitric::fragment main (1)").is_none());
        assert!(announce(tools, 0xabd0, 0x20, "two\nlines\0").is_none());
        let text = std::fs::read_to_string(map_path()).unwrap();
        assert_eq!(text, "abc0 40 vitric::fragment main (1)\nabd0 20 two?lines?\n");
        let places = ["first", "second"].map(|name| {
            let code = Encoded { bytes: vec![0; 0x50], entry: 0x40, spill_bytes: 0 };
            let generated = Generated {
                target: vitric_codegen::Target::Avx2,
                code,
                sites: Vec::new(),
                local_bytes: 0,
                parameters: 0,
                inputs: 0,
                outputs: 0,
                ranges: 0,
                pushed_bytes: 0,
                with_all_lanes: false,
            };
            let mut native = Native::new(generated, Vec::new()).unwrap();
            native.announce(tools, name);
            format!("{:x} 10 {name}", native.bytes().as_ptr().addr() + 0x40)
        });
        let text = std::fs::read_to_string(map_path()).unwrap();
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), places);
        assert_ne!(places[0].split(' ').next(), places[1].split(' ').next(), "the first one's place is not used again");
        std::fs::remove_file(map_path()).unwrap();
    }

    #[test]
    fn names_are_kept_short() {
        assert_eq!(in_one_line(&"\u{e9}".repeat(1000)), "\u{e9}".repeat(LONGEST_NAME));
    }
}
