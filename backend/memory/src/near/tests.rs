//! Tests of near memory as DESIGN 3.6 describes it: its examples, both techniques alone and
//! together, little room, full disks.

use std::sync::Arc;

use super::*;

fn config(pages: usize, groups: usize, buffer: usize) -> Config {
    Config { pages, groups, far: None, buffer, low_pages: 0, max_vacant_bytes: 0 }
}

fn memory(pages: usize, groups: usize, buffer: usize) -> NearMemory {
    NearMemory::new(&config(pages, groups, buffer)).unwrap()
}

fn codec() -> Codec {
    Codec::of_depth(32)
}

fn hashed(seed: u32) -> u32 {
    let word = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    let word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
    (word ^ word >> 12).wrapping_mul(0x297a_2d39)
}

/// Returns a line of `sub_blocks` sub-blocks that is different for each seed.
fn sized(sub_blocks: usize, seed: u32) -> Line {
    let mask = [0, 0x1ff, 0x3_ffff, u32::MAX][sub_blocks - 1];
    let base = hashed(seed) & 0x7fff_0000;
    let line = Line(std::array::from_fn(|word| base.wrapping_add(hashed(seed * 64 + word as u32) & mask)));
    let mut coded = Line::ZERO;
    assert_eq!(codec().encode(&line, &mut coded).sub_blocks(), sub_blocks);
    line
}

fn read(memory: &NearMemory, line: usize) -> Line {
    let mut out = Line([9; 64]);
    memory.read(&codec(), line, &mut out).unwrap();
    out
}

/// Writes lines of these sizes to a group, and returns them.
fn write(memory: &NearMemory, group: usize, sizes: [usize; LINES], seed: u32) -> [Line; LINES] {
    let lines = std::array::from_fn(|line| sized(sizes[line], seed * 8 + line as u32));
    for (number, line) in lines.iter().enumerate() {
        memory.write(&codec(), group * LINES + number, line).unwrap();
    }
    lines
}

fn check(memory: &NearMemory, group: usize, lines: &[Line; LINES]) {
    for (number, line) in lines.iter().enumerate() {
        assert!(read(memory, group * LINES + number) == *line, "line {number} of group {group}");
    }
}

fn used(memory: &NearMemory) -> usize {
    let (free, all) = memory.free_pages();
    all - free
}

#[test]
fn packed_bytes_take_whole_pages() {
    assert_eq!(pages_for(576 / SUB_BLOCK), 2);
    assert_eq!(pages_for(1024 / SUB_BLOCK), 2);
    assert_eq!(pages_for(1100usize.div_ceil(SUB_BLOCK)), 3);
    assert_eq!((pages_for(1), pages_for(8), pages_for(9), pages_for(32)), (1, 1, 2, 4));
}

#[test]
fn a_group_of_576_bytes_takes_two_pages() {
    let memory = memory(64, 8, 2);
    let lines = write(&memory, 3, [1, 1, 1, 2, 1, 1, 1, 1], 1);
    assert_eq!(used(&memory), 0, "it waits for the others of its group");
    check(&memory, 3, &lines);
    memory.flush().unwrap();
    assert_eq!((memory.pages_of(3), used(&memory), memory.surfaces(3)), (2, 2, (true, false)));
    assert_eq!((memory.control(27), memory.control(28)), (Control::Two, Control::One));
    check(&memory, 3, &lines);
}

#[test]
fn a_group_of_1024_bytes_takes_two_pages_and_three_when_it_grows() {
    let memory = memory(64, 8, 2);
    let mut lines = write(&memory, 0, [2, 1, 3, 2, 1, 4, 2, 1], 2);
    memory.flush().unwrap();
    assert_eq!((memory.pages_of(0), memory.surfaces(0)), (2, (true, false)));
    // 1,100 bytes are 18 sub-blocks. The sub-blocks behind line 1 must move.
    lines[1] = sized(3, 77);
    memory.write(&codec(), 1, &lines[1]).unwrap();
    memory.flush().unwrap();
    assert_eq!((memory.pages_of(0), used(&memory), memory.surfaces(0)), (3, 3, (true, false)));
    check(&memory, 0, &lines);
    assert_eq!(memory.stats().get(Stat::GroupsExpanded), 1);
    // A group that shrinks frees pages.
    for line in [2, 3, 5, 6] {
        lines[line] = sized(1, line as u32);
        memory.write(&codec(), line, &lines[line]).unwrap();
    }
    memory.flush().unwrap();
    assert_eq!((memory.pages_of(0), used(&memory)), (2, 2));
    check(&memory, 0, &lines);
}

#[test]
fn groups_that_need_all_pages_are_not_contiguous() {
    let memory = memory(64, 8, 1);
    let lines = write(&memory, 1, [4, 4, 4, 4, 3, 3, 2, 1], 3);
    memory.flush().unwrap();
    assert_eq!((memory.pages_of(1), memory.surfaces(1)), (4, (false, false)));
    check(&memory, 1, &lines);
    assert_eq!(memory.stats().get(Stat::GroupsCompacted), 0);
}

/// An eviction fetches the lines that are not in the buffer from memory.
#[test]
fn missing_lines_are_fetched() {
    let memory = memory(64, 8, 2);
    let mut lines = write(&memory, 2, [1; LINES], 4);
    memory.flush().unwrap();
    assert_eq!(memory.pages_of(2), 1);
    lines[6] = sized(4, 5);
    memory.write(&codec(), 22, &lines[6]).unwrap();
    let fetched = memory.stats().get(Stat::NearOut);
    // Two younger groups evict this one.
    memory.tick();
    for group in [3, 4] {
        memory.write(&codec(), group * LINES, &sized(1, group as u32)).unwrap();
    }
    assert!(memory.stats().get(Stat::NearOut) >= fetched + 7 * 64);
    memory.flush().unwrap();
    assert_eq!(memory.pages_of(2), 2);
    check(&memory, 2, &lines);
}

#[test]
fn without_the_buffer_the_daemon_packs() {
    let memory = Arc::new(memory(64, 8, 0));
    let mut lines = write(&memory, 5, [1, 2, 1, 2, 1, 2, 1, 2], 7);
    assert_eq!((memory.pages_of(5), memory.surfaces(5)), (4, (false, false)));
    assert_eq!(memory.pack(8), 1);
    assert_eq!((memory.pages_of(5), used(&memory), memory.surfaces(5)), (2, 2, (false, true)));
    check(&memory, 5, &lines);
    // Lines that still fit keep the group packed, in the same pages.
    lines[3] = sized(1, 8);
    lines[4] = sized(3, 9);
    memory.write(&codec(), 43, &lines[3]).unwrap();
    memory.write(&codec(), 44, &lines[4]).unwrap();
    assert_eq!((memory.pages_of(5), memory.surfaces(5)), (2, (false, true)));
    check(&memory, 5, &lines);
    // Lines that do not fit unpack the group.
    lines[0] = sized(4, 10);
    lines[1] = sized(4, 11);
    memory.write(&codec(), 40, &lines[0]).unwrap();
    memory.write(&codec(), 41, &lines[1]).unwrap();
    assert_eq!((memory.pages_of(5), memory.surfaces(5)), (4, (false, false)));
    check(&memory, 5, &lines);
    assert_eq!((memory.stats().get(Stat::GroupsPacked), memory.stats().get(Stat::GroupsUnpacked)), (1, 1));
}

#[test]
fn the_daemon_packs_read_only_groups_first_then_old_ones_then_small_ones() {
    let memory = memory(256, 8, 0);
    let sizes = |size| [size; LINES];
    write(&memory, 0, sizes(2), 1);
    memory.tick();
    write(&memory, 1, sizes(2), 2);
    write(&memory, 2, sizes(1), 3);
    write(&memory, 3, sizes(4), 4);
    memory.tick();
    write(&memory, 4, sizes(1), 5);
    write(&memory, 5, sizes(2), 6);
    memory.expect_reads(5..6);
    let order: Vec<usize> = (0..6)
        .filter_map(|_| {
            let before: Vec<bool> = (0..8).map(|group| memory.surfaces(group).1).collect();
            memory.pack(1);
            (0..8).find(|&group| memory.surfaces(group).1 != before[group])
        })
        .collect();
    assert_eq!(order, [5, 0, 2, 1, 4], "group 3 would not be smaller");
}

#[test]
fn the_daemon_packs_when_pages_are_few_or_on_request() {
    let memory = Arc::new(NearMemory::new(&Config { low_pages: 16, ..config(64, 32, 0) }).unwrap());
    let daemon = Daemon::start(&memory).unwrap();
    let lines: Vec<_> = (0..16).map(|group| write(&memory, group, [1; LINES], group as u32)).collect();
    let until = |done: &dyn Fn() -> bool| {
        let start = std::time::Instant::now();
        while !done() {
            assert!(start.elapsed().as_secs() < 60, "the daemon does not work");
            std::thread::yield_now();
        }
    };
    until(&|| memory.free_pages().0 >= 16);
    daemon.pack_all();
    until(&|| (0..16).all(|group| memory.pages_of(group) <= 1));
    drop(daemon);
    lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
}

#[test]
fn groups_without_room_go_to_far_memory() {
    for (buffer, file) in [(0, false), (4, false), (0, true), (4, true)] {
        let far = file.then(|| FarFile::create(&std::env::temp_dir()).unwrap());
        // 128 pages are 64 KiB.
        let memory = NearMemory::new(&Config { far, ..config(128, 256, buffer) }).unwrap();
        let sizes = |group: usize| std::array::from_fn(|line| hashed((group * 8 + line) as u32) as usize % 4 + 1);
        let mut lines: Vec<_> = (0..256).map(|group| write(&memory, group, sizes(group), group as u32)).collect();
        lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
        assert!(memory.stats().get(Stat::GroupsEvicted) > 0 && memory.stats().get(Stat::FarOut) > 0);
        // Rewrites lines of groups in far memory, and of packed groups.
        memory.pack(1000);
        for group in (0..256).step_by(3) {
            lines[group][5] = sized(group % 4 + 1, 5000 + group as u32);
            memory.write(&codec(), group * LINES + 5, &lines[group][5]).unwrap();
        }
        memory.flush().unwrap();
        lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
    }
}

/// Groups in anonymous far memory occupy whole pages of 512 bytes, however they lay in near memory.
#[test]
fn far_memory_takes_no_more_pages_than_groups_need() {
    let memory = memory(16, 32, 0);
    // In near memory each group has four pages. It needs 2, and every eighth one needs 4.
    let size = |group: usize| if group % 8 == 7 { 4 } else { 2 };
    let mut lines: Vec<_> = (0..20).map(|group| write(&memory, group, [size(group); LINES], group as u32)).collect();
    assert_eq!((memory.stats().get(Stat::GroupsEvicted), used(&memory)), (16, 16));
    // Groups 7 and 15 are among the evicted ones.
    assert_eq!(memory.resident_bytes(), (16 + 14 * 2 + 2 * 4) * PAGE);
    assert_eq!((memory.bytes_of(0), memory.bytes_of(7), memory.bytes_of(19)), (2 * PAGE, 4 * PAGE, 4 * PAGE));
    lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
    // A group in far memory that is written goes back to near memory and evicts another.
    lines[0][3] = sized(1, 500);
    memory.write(&codec(), 3, &lines[0][3]).unwrap();
    assert_eq!((memory.bytes_of(0), memory.resident_bytes()), (4 * PAGE, (16 + 14 * 2 + 2 * 4) * PAGE));
    lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
    assert_eq!(memory.release(4..8), 4);
    assert_eq!((memory.stats().get(Stat::GroupsDiscarded), memory.resident_bytes()), (0, (16 + 11 * 2 + 4) * PAGE));
    memory.discard(0..32);
    assert_eq!((memory.stats().get(Stat::GroupsDiscarded), memory.resident_bytes()), (16, 0));
}

#[test]
fn clears_cost_control_bits() {
    let memory = memory(64, 64, 2);
    let lines = write(&memory, 9, [3; LINES], 1);
    let value = Line([0x3f00_0000; 64]);
    memory.clear(&codec(), 0..64, &value).unwrap();
    assert_eq!((used(&memory), memory.stats().get(Stat::NearIn)), (0, 0));
    assert!((0..64 * LINES).all(|line| read(&memory, line) == value));
    // After a write of one line, the other lines still have the clear value.
    memory.write(&codec(), 9 * LINES + 4, &lines[4]).unwrap();
    memory.flush().unwrap();
    assert_eq!((used(&memory), read(&memory, 9 * LINES + 4), read(&memory, 9 * LINES + 5)), (2, lines[4], value));
    memory.discard(0..64);
    assert_eq!((used(&memory), read(&memory, 9 * LINES + 4)), (0, Line::ZERO));
    // Clear values beyond the size of the table are written as lines.
    for number in 0..20 {
        let value = Line([number; 64]);
        memory.clear(&codec(), number as usize..number as usize + 1, &value).unwrap();
    }
    assert!((0..20).all(|number| read(&memory, number * LINES + 3) == Line([number as u32; 64])));
    memory.flush().unwrap();
    assert!(used(&memory) > 0 && used(&memory) < 8);
}

/// `/dev/full` stands for a full disk: writes to it fail.
#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let full = std::path::Path::new("/dev/full");
    assert!(FarFile::create(full).is_err(), "no folder");
    let Ok(file) = std::fs::OpenOptions::new().read(true).write(true).open(full) else { return };
    let mut memory = memory(16, 16, 0);
    memory.far = Far::File(Arc::new(FarFile::of(file)));
    let lines: Vec<_> = (0..4).map(|group| write(&memory, group, [4; LINES], group as u32)).collect();
    let error = memory.write(&codec(), 4 * LINES, &sized(4, 99)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    lines.iter().enumerate().for_each(|(group, lines)| check(&memory, group, lines));
    assert_eq!(read(&memory, 4 * LINES), Line::ZERO);
    // After a discard frees room, writes succeed again.
    memory.discard(1..2);
    memory.write(&codec(), 4 * LINES, &sized(4, 99)).unwrap();
    assert!(read(&memory, 4 * LINES) == sized(4, 99));
}

/// The buffer keeps groups that cannot be evicted.
#[test]
fn a_full_disk_keeps_groups_in_the_compaction_buffer() {
    let Ok(file) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full") else { return };
    let mut memory = memory(4, 16, 1);
    memory.far = Far::File(Arc::new(FarFile::of(file)));
    let first = write(&memory, 0, [4; LINES], 1);
    let second = write(&memory, 1, [4; LINES], 2);
    assert!(memory.write(&codec(), 2 * LINES, &sized(4, 3)).is_err() && memory.flush().is_err());
    check(&memory, 0, &first);
    check(&memory, 1, &second);
}

#[test]
fn peaks_are_ordered() {
    let memory = memory(64, 16, 4);
    for group in 0..8 {
        write(&memory, group, [1, 2, 1, 1, 1, 2, 1, 1], group as u32);
    }
    memory.flush().unwrap();
    let [compacted, compressed, raw] =
        [Stat::PeakCompacted, Stat::PeakCompressed, Stat::PeakRaw].map(|stat| memory.stats().get(stat));
    assert_eq!((compressed, raw), (8 * 10 * 64, 8 * 2048));
    assert_eq!(compacted, 8 * 1024);
    memory.discard(0..16);
    assert_eq!(used(&memory), 0);
}
