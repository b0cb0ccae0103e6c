//! Word memory that threads read while others write: the pages of near memory and of anonymous far
//! memory.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

use super::PAGE;
use super::codec::SUB_BLOCK;

/// Words of a sub-block.
pub const SUB_BLOCK_WORDS: usize = SUB_BLOCK / 8;
/// Words of a page.
const PAGE_WORDS: usize = PAGE / 8;

/// Zero-initialized memory whose pages are allocated on the first write.
#[derive(Debug)]
struct WordMemory {
    map: MmapRaw,
    count: usize,
}

impl WordMemory {
    /// Creates a memory of `count` words (at least 1).
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize) -> io::Result<Self> {
        let bytes = count.max(1).checked_mul(8).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { map: MmapRaw::from(MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?), count })
    }

    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has at least this many words, is aligned to pages, and lives as long
        // as `self`. It is accessed as atomic words only.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), self.count) }
    }

    /// Reads words from `start` on. Words behind the end are 0.
    pub fn read(&self, start: usize, out: &mut [u64]) {
        let words = self.all().get(start..).unwrap_or_default();
        let (inside, outside) = out.split_at_mut(out.len().min(words.len()));
        for (out, word) in inside.iter_mut().zip(words) {
            *out = word.load(Ordering::Relaxed);
        }
        outside.fill(0);
    }

    /// Writes words from `start` on. Words behind the end are dropped.
    pub fn write(&self, start: usize, words: &[u64]) {
        // A thread that sees one of these stores must also see the change that freed the words.
        fence(Ordering::Release);
        for (word, &value) in self.all().get(start..).unwrap_or_default().iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Returns pages of the system to the system. Their words then read as zeros.
    pub fn discard(&self, pages: Range<usize>) {
        let (start, end) = (pages.start * SYSTEM_PAGE, pages.end * SYSTEM_PAGE);
        assert!(start <= end && end <= self.map.len().next_multiple_of(SYSTEM_PAGE));
        // SAFETY: the range lies inside the mapping, which ends with a page of the system.
        // Concurrent readers see zeros or the old values, as with any write.
        unsafe {
            libc::madvise(self.map.as_mut_ptr().add(start).cast(), end - start, libc::MADV_DONTNEED);
        }
    }
}

/// Bytes of a page of the system.
const SYSTEM_PAGE: usize = 4096;
/// Pages of near memory per page of the system.
const SYSTEM_PAGE_PAGES: u32 = (SYSTEM_PAGE / PAGE) as u32;

/// Pages of near memory, or of anonymous far memory.
///
/// A page of the system whose pages are all free is *vacant*. It stays resident until a trim
/// returns it to the system.
#[derive(Debug)]
pub struct Pages {
    words: WordMemory,
    free: Mutex<Free>,
    count: usize,
    free_count: AtomicUsize,
    /// Number of vacant pages of the system that are resident.
    vacant_count: AtomicUsize,
    /// Number of vacant pages of the system above which [`Self::free`] returns them.
    max_vacant: usize,
}

/// Free pages.
#[derive(Debug, Default)]
struct Free {
    /// Free pages that were allocated before.
    returned: Vec<u32>,
    /// True if `returned` is in descending order.
    is_sorted: bool,
    /// First page that was never allocated. All later pages are free, too.
    fresh: u32,
    /// Pages of the system that contain pages before `fresh`.
    system: Vec<SystemPage>,
    /// Pages of the system that became vacant since the last trim. Some may be in use again or
    /// occur twice.
    vacant: Vec<u32>,
}

/// State of a page of the system.
#[derive(Debug, Default, Clone, Copy)]
struct SystemPage {
    /// Number of allocated pages in it.
    allocated: u8,
    /// True if it has been allocated since it was returned to the system.
    is_resident: bool,
}

impl Pages {
    /// Creates a memory of `count` pages, all free. About `max_vacant_bytes` bytes of freed pages
    /// may stay resident until the next trim.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize, max_vacant_bytes: usize) -> io::Result<Self> {
        u32::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            words: WordMemory::new(count * PAGE_WORDS)?,
            free: Mutex::default(),
            count,
            free_count: AtomicUsize::new(count),
            vacant_count: AtomicUsize::new(0),
            max_vacant: max_vacant_bytes / SYSTEM_PAGE,
        })
    }

    /// Returns the number of pages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of free pages.
    pub fn free_count(&self) -> usize {
        self.free_count.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the allocated pages and of the vacant pages of the system that are
    /// resident.
    pub fn resident_bytes(&self) -> usize {
        (self.count - self.free_count()) * PAGE + self.vacant_count.load(Ordering::Relaxed) * SYSTEM_PAGE
    }

    /// Allocates `pages.len()` pages. Returns false and allocates nothing if fewer than `leave`
    /// pages would stay free.
    pub fn allocate(&self, pages: &mut [u32], leave: usize) -> bool {
        let mut free = self.free.lock();
        let all = free.returned.len() + self.count - free.fresh as usize;
        let Some(left) = all.checked_sub(pages.len()).filter(|&left| left >= leave) else { return false };
        let mut reused = 0;
        for page in pages {
            *page = free.returned.pop().unwrap_or_else(|| {
                free.fresh += 1;
                free.fresh - 1
            });
            reused += usize::from(free.note_allocated(*page));
        }
        self.free_count.store(left, Ordering::Relaxed);
        self.vacant_count.fetch_sub(reused, Ordering::Relaxed);
        true
    }

    /// Frees pages. Returns vacant pages of the system to the system if there are too many.
    pub fn free(&self, pages: &[u32]) {
        if pages.is_empty() {
            return;
        }
        let mut free = self.free.lock();
        free.returned.extend_from_slice(pages);
        free.is_sorted = false;
        let vacant = pages.iter().filter(|&&page| free.note_freed(page)).count();
        self.free_count.store(free.returned.len() + self.count - free.fresh as usize, Ordering::Relaxed);
        self.vacant_count.fetch_add(vacant, Ordering::Relaxed);
        if free.vacant.len() > self.max_vacant {
            self.discard_vacant(&mut free);
        }
    }

    /// Returns vacant pages of the system to the system.
    pub fn trim(&self) {
        self.discard_vacant(&mut self.free.lock());
    }

    /// Sorts the free pages, so that later allocations use the lowest ones first, and allocated
    /// pages lie together.
    pub fn sort(&self) {
        let mut free = self.free.lock();
        if std::mem::replace(&mut free.is_sorted, true) {
            return;
        }
        free.returned.sort_unstable_by(|a, b| b.cmp(a));
        let mut last = 0;
        while free.returned.get(last).is_some_and(|&page| page + 1 == free.fresh) {
            free.fresh -= 1;
            last += 1;
        }
        free.returned.drain(..last);
    }

    /// Returns vacant pages of the system to the system. The lock keeps them free meanwhile.
    fn discard_vacant(&self, free: &mut Free) {
        let mut vacant = std::mem::take(&mut free.vacant);
        vacant.sort_unstable();
        vacant.retain(|&page| {
            let page = &mut free.system[page as usize];
            page.allocated == 0 && std::mem::take(&mut page.is_resident)
        });
        for run in vacant.chunk_by(|a, b| a + 1 == *b) {
            let first = run[0] as usize;
            self.words.discard(first..first + run.len());
        }
        self.vacant_count.fetch_sub(vacant.len(), Ordering::Relaxed);
        // The list keeps its memory.
        vacant.clear();
        free.vacant = vacant;
    }

    /// Divides `words` words of a group in these pages, from sub-block `start` on, at the ends of
    /// pages. Returns the first word of each part, and the range of the group's words.
    fn parts(pages: &[u32], start: usize, words: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let first = start * SUB_BLOCK_WORDS;
        (first / PAGE_WORDS..(first + words).div_ceil(PAGE_WORDS)).map(move |number| {
            let page = pages.get(number).copied().unwrap_or(u32::MAX) as usize;
            let (begin, end) = (first.max(number * PAGE_WORDS), (first + words).min((number + 1) * PAGE_WORDS));
            let word = page.saturating_mul(PAGE_WORDS).saturating_add(begin % PAGE_WORDS);
            (word, begin - first..end - first)
        })
    }

    /// Reads sub-blocks of a group in these pages, from sub-block `start` on.
    pub fn read(&self, pages: &[u32], start: usize, out: &mut [u64]) {
        for (word, part) in Self::parts(pages, start, out.len()) {
            self.words.read(word, &mut out[part]);
        }
    }

    /// Writes sub-blocks of a group in these pages, from sub-block `start` on.
    pub fn write(&self, pages: &[u32], start: usize, words: &[u64]) {
        for (word, part) in Self::parts(pages, start, words.len()) {
            self.words.write(word, &words[part]);
        }
    }
}

impl Free {
    /// Notes that a page is allocated. Returns true if its page of the system was vacant and
    /// resident.
    fn note_allocated(&mut self, page: u32) -> bool {
        let number = (page / SYSTEM_PAGE_PAGES) as usize;
        if number >= self.system.len() {
            self.system.resize(number + 1, SystemPage::default());
        }
        let system = &mut self.system[number];
        let was_vacant = system.allocated == 0 && std::mem::replace(&mut system.is_resident, true);
        system.allocated += 1;
        was_vacant
    }

    /// Notes that a page is free. Returns true if its page of the system becomes vacant.
    fn note_freed(&mut self, page: u32) -> bool {
        let number = page / SYSTEM_PAGE_PAGES;
        let system = &mut self.system[number as usize];
        system.allocated -= 1;
        if system.allocated == 0 {
            self.vacant.push(number);
        }
        system.allocated == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate<const COUNT: usize>(pages: &Pages) -> [u32; COUNT] {
        let mut allocated = [0; COUNT];
        assert!(pages.allocate(&mut allocated, 0));
        allocated
    }

    fn is_zero(pages: &Pages, page: u32) -> bool {
        let mut words = [1; PAGE_WORDS];
        pages.read(&[page], 0, &mut words);
        words == [0; PAGE_WORDS]
    }

    /// Freed pages stay resident until a trim returns the pages of the system that contain no
    /// allocated page.
    #[test]
    fn vacant_pages_of_the_system_are_resident_until_a_trim() {
        let pages = Pages::new(64, 16 * SYSTEM_PAGE).unwrap();
        let all: [u32; 20] = allocate(&pages);
        all.iter().for_each(|&page| pages.write(&[page], 0, &[7; PAGE_WORDS]));
        // Pages 8 to 11 keep the second page of the system.
        pages.free(&[&all[..8], &all[12..]].concat());
        assert_eq!((pages.free_count(), pages.resident_bytes()), (60, 4 * PAGE + 2 * SYSTEM_PAGE));
        assert!(!is_zero(&pages, 0));
        pages.trim();
        assert_eq!((pages.free_count(), pages.resident_bytes()), (60, 4 * PAGE));
        assert!(is_zero(&pages, 0) && is_zero(&pages, 19) && !is_zero(&pages, 12));
        pages.free(&all[8..12]);
        assert_eq!(pages.resident_bytes(), SYSTEM_PAGE);
        // An allocation uses the page again, so the trim returns nothing.
        let [page] = allocate(&pages);
        assert_eq!((page / SYSTEM_PAGE_PAGES, pages.resident_bytes()), (1, PAGE));
        pages.write(&[page], 0, &[9; PAGE_WORDS]);
        pages.trim();
        assert!(!is_zero(&pages, page));
        // It becomes vacant twice before the next trim.
        pages.free(&[page]);
        let [page] = allocate(&pages);
        pages.free(&[page]);
        assert_eq!(pages.resident_bytes(), SYSTEM_PAGE);
        pages.trim();
        assert_eq!((pages.resident_bytes(), is_zero(&pages, page)), (0, true));
    }

    #[test]
    fn too_many_vacant_pages_of_the_system_are_returned_at_once() {
        let pages = Pages::new(64, 2 * SYSTEM_PAGE).unwrap();
        let all: [u32; 32] = allocate(&pages);
        let resident = all.chunks(8).map(|freed| {
            pages.free(freed);
            pages.resident_bytes()
        });
        let most = 3 * 8 * PAGE + SYSTEM_PAGE;
        assert_eq!(resident.collect::<Vec<_>>(), [most, most, 8 * PAGE, SYSTEM_PAGE]);
    }

    #[test]
    fn sorted_pages_are_allocated_from_the_lowest_on() {
        let pages = Pages::new(64, 0).unwrap();
        let all: [u32; 20] = allocate(&pages);
        pages.free(&[all[3], all[19], all[1], all[18]]);
        pages.sort();
        assert_eq!((allocate(&pages), allocate(&pages)), ([1], [3, 18, 19, 20]));
    }

    #[test]
    fn parts_end_with_pages() {
        let parts: Vec<_> = Pages::parts(&[5, 2], 6, 3 * SUB_BLOCK_WORDS).collect();
        let (second, end) = (2 * SUB_BLOCK_WORDS, 3 * SUB_BLOCK_WORDS);
        assert_eq!(parts, [(5 * PAGE_WORDS + 6 * SUB_BLOCK_WORDS, 0..second), (2 * PAGE_WORDS, second..end)]);
        assert_eq!(Pages::parts(&[5], 0, 0).count(), 0);
    }
}
