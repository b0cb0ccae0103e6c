//! Buffers that the kernel shares between drivers and processes (dma-buf).
//!
//! The size of a dma-buf is fixed for its lifetime, and only a kernel driver can move its pages. So
//! no process can remove pages from a mapping, and accesses never raise `SIGBUS`. A memory file
//! with a seal against shrinking has the same property and is accepted in place of a dma-buf. All
//! other files are rejected before they are mapped. Sources: the kernel's documentation, "Buffer
//! Sharing and Synchronization (dma-buf)"; `linux/dma-buf.h`, `linux/udmabuf.h`, `linux/magic.h`.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

use super::shared::{PAGE, checked};

/// Type of the file system of dma-bufs.
const DMA_BUF_MAGIC: u64 = 0x444d_4142;
/// Type of the file system of memory files with pages of the usual size. A file of large pages is
/// not accepted, because a hole in it may have no page to fill it.
const TMPFS_MAGIC: u64 = 0x0102_1994;
/// Number of the request that begins or ends accesses by the processor.
const DMA_BUF_SYNC: libc::Ioctl = 0x4008_6200;
/// Flags of [`DMA_BUF_SYNC`] for reads and writes.
const SYNC_READ_WRITE: u64 = 3;
/// Flag of [`DMA_BUF_SYNC`] for the end of accesses.
const SYNC_END: u64 = 4;
/// Device that makes a dma-buf of the pages of a memory file.
const MAKER: &str = "/dev/udmabuf";
/// Number of the request that makes a dma-buf.
const UDMABUF_CREATE: libc::Ioctl = 0x4018_7542;
/// Flag of [`UDMABUF_CREATE`] for a descriptor that is closed by `exec`.
const CLOSE_ON_EXEC: u32 = 1;

/// Parameters of [`UDMABUF_CREATE`], as the kernel defines them.
#[repr(C)]
struct CreateInfo {
    file: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

/// Kind of file that can be mapped without a risk of losing pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    DmaBuf,
    SealedMemory,
}

/// Mapped dma-buf.
#[derive(Debug)]
pub(super) struct DmaBuf {
    descriptor: OwnedFd,
    kind: FileKind,
    map: MmapRaw,
}

/// Returns the kind of the file behind a descriptor.
///
/// # Errors
/// `InvalidData` for every file that is neither a dma-buf nor a sealed memory file.
fn kind_of(descriptor: BorrowedFd<'_>) -> io::Result<FileKind> {
    let mut found = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the structure has room for the answer. A descriptor that is not open is an error.
    checked(unsafe { libc::fstatfs(descriptor.as_raw_fd(), found.as_mut_ptr()) })?;
    // SAFETY: the call has succeeded, so it has filled in the structure.
    match unsafe { found.assume_init() }.f_type as u64 {
        DMA_BUF_MAGIC => return Ok(FileKind::DmaBuf),
        TMPFS_MAGIC => {}
        _ => return Err(io::ErrorKind::InvalidData.into()),
    }
    // SAFETY: the descriptor is open, and the command takes no argument.
    let seals = checked(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_GET_SEALS) })?;
    match seals & libc::F_SEAL_SHRINK {
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Ok(FileKind::SealedMemory),
    }
}

/// Returns the bytes that a dma-buf or a sealed memory file has at least, for its lifetime.
///
/// # Errors
/// `InvalidData` for every other file, or an error of the system.
pub(super) fn size_of_file(descriptor: BorrowedFd<'_>) -> io::Result<u64> {
    match kind_of(descriptor)? {
        FileKind::SealedMemory => Ok(File::from(descriptor.try_clone_to_owned()?).metadata()?.len()),
        FileKind::DmaBuf => {
            // SAFETY: the descriptor is open. Descriptors of a dma-buf have no position that the
            // call could move.
            let end = unsafe { libc::lseek(descriptor.as_raw_fd(), 0, libc::SEEK_END) };
            u64::try_from(end).map_err(|_| io::Error::last_os_error())
        }
    }
}

/// Returns true if the kernel makes dma-bufs for this process.
pub fn can_make_dma_bufs() -> bool {
    File::options().read(true).write(true).open(MAKER).is_ok()
}

/// Makes a dma-buf of the first `size` bytes (whole pages) of a memory file that is sealed against
/// shrinking.
///
/// # Errors
/// An error of the system: no such device, or a size beyond the kernel's limit.
pub(super) fn make(memory: BorrowedFd<'_>, size: u64) -> io::Result<OwnedFd> {
    let maker = File::options().read(true).write(true).open(MAKER)?;
    let file = u32::try_from(memory.as_raw_fd()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let info = CreateInfo { file, flags: CLOSE_ON_EXEC, offset: 0, size };
    // SAFETY: the request reads the structure. The descriptor that it returns is new and has no
    // other owner.
    unsafe {
        let made = checked(libc::ioctl(maker.as_raw_fd(), UDMABUF_CREATE, &raw const info))?;
        Ok(OwnedFd::from_raw_fd(made))
    }
}

/// Begins or ends accesses of the processor to a dma-buf. The beginning waits for the work of other
/// devices that the kernel knows of.
pub(super) fn synchronize(descriptor: BorrowedFd<'_>, is_end: bool) {
    let flags = if is_end { SYNC_READ_WRITE | SYNC_END } else { SYNC_READ_WRITE };
    // SAFETY: the request reads one number.
    let request = || checked(unsafe { libc::ioctl(descriptor.as_raw_fd(), DMA_BUF_SYNC, &raw const flags) });
    // A request that was interrupted is repeated. Other errors leave the contents as they are
    // without the request, which Vulkan allows after errors of another device.
    while request().is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN))) {}
}

impl DmaBuf {
    /// Maps the first `size` bytes (at least 1) of the file behind a descriptor. The caller keeps
    /// the descriptor.
    ///
    /// # Errors
    /// `InvalidData` if the file is neither a dma-buf nor a sealed memory file, or is smaller.
    /// Other errors if the system refuses to map it for reads and writes.
    pub(super) fn open(descriptor: BorrowedFd<'_>, size: u64) -> io::Result<Self> {
        let kind = kind_of(descriptor)?;
        if size == 0 || size_of_file(descriptor)? < size {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let length = size.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::InvalidInput)?;
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = MmapOptions::new().len(length).map_raw(descriptor.as_raw_fd())?;
        Ok(Self { descriptor: descriptor.try_clone_to_owned()?, kind, map })
    }

    /// Returns the descriptor, if accesses must be synchronized.
    pub(super) fn synchronized(&self) -> Option<BorrowedFd<'_>> {
        (self.kind == FileKind::DmaBuf).then(|| self.descriptor.as_fd())
    }

    /// Returns a new descriptor of the file.
    ///
    /// # Errors
    /// The process has too many open files.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.descriptor.try_clone()
    }

    /// Returns the mapped bytes, padded to whole pages.
    pub(super) fn bytes(&self) -> &MmapRaw {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a memory file of `size` bytes with seals.
    fn memory_file(size: u64, flags: libc::c_uint, seals: libc::c_int) -> File {
        let flags = flags | libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string. The descriptor is new and has no other owner.
        let file = unsafe { File::from_raw_fd(checked(libc::memfd_create(c"test".as_ptr(), flags)).unwrap()) };
        file.set_len(size).unwrap();
        // SAFETY: the descriptor is open, and the command takes an integer argument.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }).unwrap();
        file
    }

    #[test]
    fn files_that_could_lose_pages_are_refused() {
        let sealed = memory_file(5000, 0, libc::F_SEAL_SHRINK);
        let open = |file: &File, size| DmaBuf::open(file.as_fd(), size);
        assert_eq!(size_of_file(sealed.as_fd()).unwrap(), 5000);
        assert_eq!(open(&sealed, 5000).unwrap().bytes().len(), 8192);
        assert_eq!(open(&sealed, 1).unwrap().bytes().len(), 4096);
        assert!(open(&sealed, 5001).is_err() && open(&sealed, 0).is_err() && open(&sealed, u64::MAX).is_err());
        assert!(open(&memory_file(5000, 0, 0), 5000).is_err(), "another process could shrink it");
        assert!(open(&memory_file(5000, 0, libc::F_SEAL_SHRINK | libc::F_SEAL_WRITE), 5000).is_err(), "read only");
        for other in ["/dev/null", "/dev/zero", "/", "/proc/self/exe"] {
            assert!(open(&File::open(other).unwrap(), 16).is_err(), "{other}");
        }
    }

    /// This test does nothing on hosts without `/dev/udmabuf`.
    #[test]
    fn a_dma_buf_has_the_pages_of_its_file() {
        let file = memory_file(8192, 0, libc::F_SEAL_SHRINK);
        if !can_make_dma_bufs() {
            assert!(make(file.as_fd(), 8192).is_err());
            return;
        }
        let made = make(file.as_fd(), 8192).unwrap();
        assert_eq!((kind_of(made.as_fd()).unwrap(), size_of_file(made.as_fd()).unwrap()), (FileKind::DmaBuf, 8192));
        assert!(make(file.as_fd(), 8193).is_err() && DmaBuf::open(made.as_fd(), 8193).is_err());
        let opened = DmaBuf::open(made.as_fd(), 8192).unwrap();
        synchronize(opened.synchronized().unwrap(), false);
        // SAFETY: the byte is the last of the mapping, and no other thread accesses it.
        unsafe { *opened.bytes().as_mut_ptr().add(8191) = 7 };
        synchronize(opened.synchronized().unwrap(), true);
        let mut byte = [0];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut byte, 8191).unwrap();
        assert_eq!(byte, [7]);
    }
}
