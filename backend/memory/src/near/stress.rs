//! Stress test of concurrent writers, readers, the daemon, evictions, clears and discards. Each
//! read is compared with the last written line.
//!
//! `VITRIC_STRESS` is the duration in seconds: 5 by default, 20 in `cargo xtask test`. For ten
//! minutes: `VITRIC_STRESS=600 cargo test -p vitric-memory --lib near::stress`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::*;

const GROUPS: usize = 192;
const WRITERS: usize = 2;
const READERS: usize = 2;

/// Expected lines of each group, as numbers from which [`line_of`] derives them.
type Shadow = Box<[Mutex<[u32; LINES]>]>;

struct Random(u32);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % end
    }
}

/// Returns the line of a number; zeros for 0. The lines of all numbers cover all coded sizes.
fn line_of(number: u32) -> Line {
    if number == 0 {
        return Line::ZERO;
    }
    let mask = [0, 0xff, 0x1_ffff, u32::MAX][number as usize % 4];
    let mut random = Random(number);
    let mut line =
        Line(std::array::from_fn(|_| number.wrapping_add((random.below(1 << 24) as u32).wrapping_mul(0x101) & mask)));
    // The first word is the number.
    line.0[0] = number;
    line
}

fn check(memory: &NearMemory, codec: &Codec, group: usize, line: usize, number: u32) {
    let mut out = Line([3; 64]);
    memory.read(codec, group * LINES + line, &mut out).unwrap();
    assert!(out == line_of(number), "line {line} of group {group} is not number {number}");
}

/// Writes groups until `end`. Each writer owns the groups whose number modulo the number of
/// writers is `part`.
fn write(memory: &NearMemory, shadow: &Shadow, part: usize, end: Instant) {
    let (codec, mut random, mut next) = (Codec::of_depth(32), Random(part as u32 + 1), part as u32 + 1);
    while Instant::now() < end {
        let group = random.below(GROUPS / WRITERS) * WRITERS + part;
        // Readers compare lines with the shadow, so a write and its note in the shadow are one
        // step.
        let mut lines = shadow[group].lock();
        match random.below(40) {
            0 => {
                memory.discard(group..group + 1);
                *lines = [0; LINES];
            }
            1 => {
                // Few values, so that the table of clear values has room for them.
                let number = random.below(4) as u32 * 4;
                memory.clear(&codec, group..group + 1, &line_of(number)).unwrap();
                *lines = [number; LINES];
            }
            2 => memory.expect_reads(group..group + 1),
            3 => memory.tick(),
            4 => memory.flush().unwrap(),
            _ => {
                for _ in 0..random.below(LINES) + 1 {
                    let line = random.below(LINES);
                    next = next.wrapping_add(WRITERS as u32).max(1);
                    memory.write(&codec, group * LINES + line, &line_of(next)).unwrap();
                    lines[line] = next;
                }
                let line = random.below(LINES);
                check(memory, &codec, group, line, lines[line]);
            }
        }
    }
}

/// Reads lines until `end`. With the shadow locked no writer changes the group, though other
/// threads may move it. Without the lock the result must be some line that a writer creates.
fn read(memory: &NearMemory, shadow: &Shadow, seed: u32, end: Instant) {
    let (codec, mut random) = (Codec::of_depth(32), Random(seed));
    while Instant::now() < end {
        let (group, line) = (random.below(GROUPS), random.below(LINES));
        if random.below(2) == 0 {
            let lines = shadow[group].lock();
            check(memory, &codec, group, line, lines[line]);
        } else {
            let mut out = Line::ZERO;
            memory.read(&codec, group * LINES + line, &mut out).unwrap();
            assert!(is_some_line(&out), "line {line} of group {group} is none that was written");
        }
    }
}

/// Returns true if a writer can have created the line, whose first word is its number.
fn is_some_line(line: &Line) -> bool {
    line_of(line.0[0]) == *line
}

fn seconds() -> u64 {
    std::env::var("VITRIC_STRESS").ok().and_then(|value| value.parse().ok()).unwrap_or(5)
}

fn run(config: &Config, has_daemon: bool, time: Duration) {
    let memory = Arc::new(NearMemory::new(config).unwrap());
    let shadow: Shadow = (0..GROUPS).map(|_| Mutex::new([0; LINES])).collect();
    let daemon = has_daemon.then(|| Daemon::start(&memory).unwrap());
    let end = Instant::now() + time;
    std::thread::scope(|scope| {
        for part in 0..WRITERS {
            let (memory, shadow) = (&memory, &shadow);
            scope.spawn(move || write(memory, shadow, part, end));
        }
        for seed in 0..READERS {
            let (memory, shadow) = (&memory, &shadow);
            scope.spawn(move || read(memory, shadow, seed as u32 + 77, end));
        }
        while let Some(daemon) = &daemon
            && Instant::now() < end
        {
            daemon.pack_all();
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    drop(daemon);
    let codec = Codec::of_depth(32);
    for (group, lines) in shadow.iter().enumerate() {
        lines.lock().iter().enumerate().for_each(|(line, &number)| check(&memory, &codec, group, line, number));
    }
    memory.flush().unwrap();
    let pages: usize = (0..GROUPS).map(|group| memory.pages_of(group)).sum();
    let (free, all) = memory.free_pages();
    assert_eq!(pages + free, all, "no page is lost, none is in two groups");
    let stats = [
        Stat::GroupsPacked,
        Stat::PacksAbandoned,
        Stat::GroupsCompacted,
        Stat::GroupsExpanded,
        Stat::GroupsUnpacked,
        Stat::GroupsEvicted,
    ];
    println!(
        "{config:?}, daemon {has_daemon}: {:?}",
        stats.map(|stat| (vitric_base::counters::TABLE[stat as usize].name, memory.stats().get(stat)))
    );
}

#[test]
fn concurrent_accesses_find_the_last_written_lines() {
    let config = |pages, buffer| Config {
        pages,
        groups: GROUPS,
        far: None,
        buffer,
        low_pages: pages / 4,
        max_vacant_bytes: pages * PAGE / 16,
    };
    // Room for all groups, room for a few, and 64 KiB. Each technique alone, and both.
    let runs = [
        (config(1024, 0), true),
        (config(1024, 8), true),
        (config(300, 8), false),
        (config(300, 8), true),
        (config(300, 0), true),
        (Config { far: Some(FarFile::create(&std::env::temp_dir()).unwrap()), ..config(128, 4) }, true),
    ];
    let time = Duration::from_secs(seconds()) / runs.len() as u32;
    for (config, has_daemon) in runs {
        run(&config, has_daemon, time);
    }
}
