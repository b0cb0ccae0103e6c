//! Far memory: what does not fit in near memory, a slot of 2 KiB for each page group.
//!
//! Anonymous memory, or a file that has no name. A file's disk may be full: then room cannot be reserved and writes fail, and what was there
//! stays. Who reserved room before finds it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

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
    File(Arc<FarFile>),
}

/// A file that is far memory. It has no name, so that it goes with the process.
#[derive(Debug)]
pub struct FarFile {
    file: File,
    /// Bytes from its beginning on that the disk keeps for it.
    reserved: Mutex<u64>,
}

impl FarFile {
    /// An empty file in a folder.
    ///
    /// # Errors
    /// Those of the system: no such folder, a file system without such files, no permission.
    pub fn create(folder: &Path) -> io::Result<Arc<Self>> {
        let folder = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is a C string; what comes back is checked.
        let descriptor = unsafe { libc::open(folder.as_ptr(), flags, 0o600) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Arc::new(Self::of(unsafe { File::from_raw_fd(descriptor) })))
    }

    pub(super) fn of(file: File) -> Self {
        Self { file, reserved: Mutex::new(0) }
    }

    /// Has the disk keep room for the first `bytes`: what is written there from now on does not fail for want of it.
    ///
    /// # Errors
    /// The disk is full, or files of the process may not be as large; what was reserved before still is.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut reserved = self.reserved.lock();
        let Some(more) = bytes.checked_sub(*reserved).filter(|more| *more > 0) else { return Ok(()) };
        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let (start, more) = ((*reserved).try_into().map_err(too_large)?, more.try_into().map_err(too_large)?);
        // SAFETY: the descriptor is open.
        let done = without_signal(|| unsafe { libc::posix_fallocate(self.file.as_raw_fd(), start, more) });
        if done != 0 {
            // Some of it may have been taken.
            let _ = self.file.set_len(*reserved);
            return Err(io::Error::from_raw_os_error(done));
        }
        *reserved = bytes;
        Ok(())
    }

    /// Nothing of the file is needed any more.
    pub fn clear(&self) {
        let mut reserved = self.reserved.lock();
        // Where that fails the disk keeps what it has.
        if *reserved > 0 && self.file.set_len(0).is_ok() {
            *reserved = 0;
        }
    }

    fn read(&self, at: usize, out: &mut [u64]) -> io::Result<()> {
        self.file.read_exact_at(bytemuck::cast_slice_mut(out), at as u64)
    }

    fn write(&self, at: usize, words: &[u64]) -> io::Result<()> {
        without_signal(|| self.file.write_all_at(bytemuck::cast_slice(words), at as u64))
    }

    /// What was reserved stays so: others are sure of it.
    fn discard(&self, range: std::ops::Range<usize>) {
        let start = (range.start as u64).max(*self.reserved.lock());
        let length = (range.end as u64).saturating_sub(start);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        if let (Ok(start), Ok(length @ 1..)) = (start.try_into(), length.try_into()) {
            // SAFETY: the descriptor is open. A file system without holes keeps the blocks, which costs only disk.
            let _ = unsafe { libc::fallocate(self.file.as_raw_fd(), mode, start, length) };
        }
    }
}

/// Runs something that writes to a file. Where a file would be larger than files of the process may be, the system sends the thread a
/// signal (`SIGXFSZ`), which ends programs that do not expect it: here it is the error alone.
fn without_signal<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: sets of signals are plain data, which the calls fill; what changes is this thread's mask, which is put back.
    unsafe {
        let (mut signal, mut before, mut pending): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut signal);
        libc::sigaddset(&mut signal, libc::SIGXFSZ);
        libc::sigpending(&mut pending);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signal, &mut before);
        let done = run();
        // One that was there before is somebody else's.
        if libc::sigismember(&pending, libc::SIGXFSZ) == 0 {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&signal, std::ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        done
    }
}

impl Far {
    /// Anonymous memory.
    ///
    /// # Errors
    /// The system has none.
    pub fn anonymous(slots: usize) -> io::Result<Self> {
        Words::new(slots.checked_mul(SLOT).ok_or(io::ErrorKind::OutOfMemory)?).map(Self::Anonymous)
    }

    /// Reads sub-blocks of a slot, from one on.
    ///
    /// # Errors
    /// Those of the file.
    pub fn read(&self, slot: usize, start: usize, out: &mut [u64]) -> io::Result<()> {
        match self {
            Self::Anonymous(words) => words.read(slot * SLOT + start * WORDS, out),
            Self::File(file) => file.read(slot * GROUP + start * SUB_BLOCK, out)?,
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
            Self::File(file) => file.write(slot * GROUP + start * SUB_BLOCK, words)?,
        }
        Ok(())
    }

    /// What is in these slots is not needed any more.
    pub fn discard(&self, slots: std::ops::Range<usize>) {
        match self {
            Self::Anonymous(words) => words.discard(slots.start * SLOT, slots.end * SLOT),
            Self::File(file) => file.discard(slots.start * GROUP..slots.end * GROUP),
        }
    }
}
