//! Far memory: storage for groups that do not fit in near memory.
//!
//! Far memory is anonymous memory or an unnamed file. In both, the lines of a group are contiguous.
//! Anonymous memory consists of pages like near memory, so that it takes no more than the groups
//! in it. A file has a slot of 2 KiB for each page group. Its disk may be full. Reservations and
//! writes then fail, and earlier contents are kept. Reserved room stays available.

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
use super::pages::Pages;
use super::table::{MAX_PAGES, Snapshot};

/// Number of groups that may be in anonymous memory twice, while writers replace their lines.
const MAX_WRITERS: usize = 256;

/// Far memory for a fixed number of groups.
#[derive(Debug)]
pub enum Far {
    /// Pages of the process's memory.
    Anonymous(Pages),
    /// File with a slot for each group.
    File(Arc<FarFile>),
}

/// Far-memory file. It has no name, so the system deletes it when the process ends.
#[derive(Debug)]
pub struct FarFile {
    file: File,
    /// Bytes from the start of the file for which disk room is reserved.
    reserved: Mutex<u64>,
}

impl FarFile {
    /// Creates an empty file in a folder.
    ///
    /// # Errors
    /// An error of the system: the folder does not exist, its file system has no unnamed files, or
    /// permission is denied.
    pub fn create(folder: &Path) -> io::Result<Arc<Self>> {
        let folder = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path is a C string. The result is checked.
        let descriptor = unsafe { libc::open(folder.as_ptr(), flags, 0o600) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Arc::new(Self::of(unsafe { File::from_raw_fd(descriptor) })))
    }

    pub(super) fn of(file: File) -> Self {
        Self { file, reserved: Mutex::new(0) }
    }

    /// Reserves disk room for the first `bytes` bytes. Later writes to them do not fail for lack
    /// of room.
    ///
    /// # Errors
    /// The disk is full, or the file would exceed the file size limit of the process. Earlier
    /// reservations remain.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut reserved = self.reserved.lock();
        let Some(more) = bytes.checked_sub(*reserved).filter(|more| *more > 0) else { return Ok(()) };
        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let (start, more) = ((*reserved).try_into().map_err(too_large)?, more.try_into().map_err(too_large)?);
        // SAFETY: the descriptor is open.
        let done = without_signal(|| unsafe { libc::posix_fallocate(self.file.as_raw_fd(), start, more) });
        if done != 0 {
            // The failed call may have allocated some blocks.
            let _ = self.file.set_len(*reserved);
            return Err(io::Error::from_raw_os_error(done));
        }
        *reserved = bytes;
        Ok(())
    }

    /// Discards all contents and reservations of the file.
    pub fn clear(&self) {
        let mut reserved = self.reserved.lock();
        // If truncation fails, the disk room stays reserved.
        if *reserved > 0 && self.file.set_len(0).is_ok() {
            *reserved = 0;
        }
    }

    fn read(&self, at: usize, out: &mut [u64]) -> io::Result<()> {
        self.file.read_exact_at(bytemuck::cast_slice_mut(out), at as u64)
    }

    /// Writes words at a byte offset.
    ///
    /// # Errors
    /// An error of the file, such as a full disk.
    pub(super) fn write(&self, at: usize, words: &[u64]) -> io::Result<()> {
        without_signal(|| self.file.write_all_at(bytemuck::cast_slice(words), at as u64))
    }

    /// Discards a range of bytes. Reserved bytes stay reserved, because other spans rely on the
    /// reservation.
    fn discard(&self, range: std::ops::Range<usize>) {
        let start = (range.start as u64).max(*self.reserved.lock());
        let length = (range.end as u64).saturating_sub(start);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        if let (Ok(start), Ok(length @ 1..)) = (start.try_into(), length.try_into()) {
            // SAFETY: the descriptor is open. A file system without holes keeps the blocks, which
            // costs only disk space.
            let _ = unsafe { libc::fallocate(self.file.as_raw_fd(), mode, start, length) };
        }
    }
}

/// Runs a function that writes to a file, with `SIGXFSZ` blocked. The system sends this signal to
/// a thread that exceeds the file size limit, and it ends programs that do not handle it. The
/// caller only sees the error.
fn without_signal<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: signal sets are plain data, which the calls initialize. Only this thread's signal
    // mask changes, and it is restored.
    unsafe {
        let (mut signal, mut before, mut pending): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut signal);
        libc::sigaddset(&mut signal, libc::SIGXFSZ);
        libc::sigpending(&mut pending);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signal, &mut before);
        let done = run();
        // A signal that was pending before belongs to other code and stays pending.
        if libc::sigismember(&pending, libc::SIGXFSZ) == 0 {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&signal, std::ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        done
    }
}

impl Far {
    /// Creates anonymous far memory for `groups` groups. About `max_vacant_bytes` bytes of freed
    /// pages may stay resident until the next trim.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn anonymous(groups: usize, max_vacant_bytes: usize) -> io::Result<Self> {
        let pages = groups.checked_add(MAX_WRITERS).and_then(|groups| groups.checked_mul(MAX_PAGES));
        Pages::new(pages.ok_or(io::ErrorKind::OutOfMemory)?, max_vacant_bytes).map(Self::Anonymous)
    }

    /// Reads sub-blocks of a group from sub-block `start` on.
    ///
    /// # Errors
    /// An error of the file.
    pub fn read(&self, group: usize, snapshot: &Snapshot, start: usize, out: &mut [u64]) -> io::Result<()> {
        match self {
            Self::Anonymous(pages) => pages.read(&snapshot.pages, start, out),
            Self::File(file) => file.read(group * GROUP + start * SUB_BLOCK, out)?,
        }
        Ok(())
    }

    /// Returns the bytes of the process's memory that groups and freed pages occupy.
    pub fn resident_bytes(&self) -> usize {
        match self {
            Self::Anonymous(pages) => pages.resident_bytes(),
            Self::File(_) => 0,
        }
    }

    /// Frees pages of anonymous memory. Does nothing to a file.
    pub fn free(&self, freed: &[u32]) {
        if let Self::Anonymous(pages) = self {
            pages.free(freed);
        }
    }

    /// Discards the slots of groups in a file.
    pub fn discard(&self, groups: std::ops::Range<usize>) {
        if let Self::File(file) = self {
            file.discard(groups.start * GROUP..groups.end * GROUP);
        }
    }

    /// Returns pages of the system that contain no page of a group to the system.
    pub fn trim(&self) {
        if let Self::Anonymous(pages) = self {
            pages.trim();
        }
    }

    /// Sorts the free pages of anonymous memory.
    pub fn sort(&self) {
        if let Self::Anonymous(pages) = self {
            pages.sort();
        }
    }
}
