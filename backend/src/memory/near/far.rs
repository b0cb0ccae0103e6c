//! Far memory: what does not fit in near memory, a slot of 2 KiB for each page group.
//!
//! Anonymous memory, or a file that has no name. A file's disk may be full: then writes fail, and what was there stays.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::GROUP;
use super::codec::SUB_BLOCK;
use super::pages::{WORDS, Words};

/// Words of a slot.
const SLOT: usize = GROUP / 8;

/// Far memory of so many slots.
#[derive(Debug)]
pub enum Far {
    /// Memory of the process, whose pages come when they are written.
    Anonymous(Words),
    /// A file.
    File(File),
}

impl Far {
    /// Anonymous memory.
    ///
    /// # Errors
    /// The system has none.
    pub fn anonymous(slots: usize) -> io::Result<Self> {
        Words::new(slots.checked_mul(SLOT).ok_or(io::ErrorKind::OutOfMemory)?).map(Self::Anonymous)
    }

    /// A file in a folder. It has no name, so that it goes with the process.
    ///
    /// # Errors
    /// Those of the system: no such folder, a file system without such files, no permission.
    pub fn file(folder: &Path) -> io::Result<Self> {
        let folder = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is a C string; what comes back is checked.
        let descriptor = unsafe { libc::open(folder.as_ptr(), flags, 0o600) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self::File(unsafe { File::from_raw_fd(descriptor) }))
    }

    /// Reads sub-blocks of a slot, from one on.
    ///
    /// # Errors
    /// Those of the file.
    pub fn read(&self, slot: usize, start: usize, out: &mut [u64]) -> io::Result<()> {
        match self {
            Self::Anonymous(words) => words.read(slot * SLOT + start * WORDS, out),
            Self::File(file) => {
                let at = (slot * GROUP + start * SUB_BLOCK) as u64;
                file.read_exact_at(bytemuck::cast_slice_mut(out), at)?;
            }
        }
        Ok(())
    }

    /// Writes sub-blocks of a slot, from one on.
    ///
    /// # Errors
    /// Those of the file: its disk is full.
    pub fn write(&self, slot: usize, start: usize, words: &[u64]) -> io::Result<()> {
        match self {
            Self::Anonymous(memory) => memory.write(slot * SLOT + start * WORDS, words),
            Self::File(file) => {
                let at = (slot * GROUP + start * SUB_BLOCK) as u64;
                file.write_all_at(bytemuck::cast_slice(words), at)?;
            }
        }
        Ok(())
    }

    /// What is in these slots is not needed any more.
    pub fn discard(&self, slots: std::ops::Range<usize>) {
        match self {
            Self::Anonymous(words) => words.discard(slots.start * SLOT, slots.end * SLOT),
            Self::File(file) => {
                let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                let (start, length) = (slots.start * GROUP, slots.len() * GROUP);
                if let (Ok(start), Ok(length)) = (start.try_into(), length.try_into()) {
                    // SAFETY: the descriptor is open. A file system without holes keeps the blocks, which costs only disk.
                    let _ = unsafe { libc::fallocate(file.as_raw_fd(), mode, start, length) };
                }
            }
        }
    }
}
