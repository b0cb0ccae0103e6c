//! Processors and memory that the process may use, which can be less than the machine has.
//!
//! A process may be restricted to some processors by its affinity. The control groups that contain
//! it may limit its processor time and its memory. All values are read from files below a root
//! folder, so that tests can provide their own files. Sources: Linux' documentation of control
//! groups, version 1 ("CFS Bandwidth Control", "Memory Resource Controller") and 2 (`cpu.max`,
//! `memory.max`, `memory.high`, `memory.pressure`) and of PSI, proc(5).

use std::fs;
use std::path::{Path, PathBuf};

/// Root folder of the machine's files.
pub const ROOT: &str = "/";

/// Returns a file's words, separated by whitespace.
fn words(path: &Path) -> Option<Vec<String>> {
    fs::read_to_string(path).ok().map(|text| text.split_whitespace().map(str::to_owned).collect())
}

/// Returns a file's first number, or `None` if it has none, for example for "max".
fn number(path: &Path) -> Option<u64> {
    words(path)?.first()?.parse().ok()
}

/// Returns the text after the colon in a file's line `Name: value`.
fn field(path: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map(|value| value.trim().to_owned())
}

/// Returns the folders of the control groups that contain the process and have a controller, of
/// either version. A group comes before the groups that contain it.
fn groups(root: &Path, controller: &str) -> Vec<PathBuf> {
    let listed = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut folders = Vec::new();
    for line in listed.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let top = match controllers.split(',').any(|of| of == controller) {
            true => root.join("sys/fs/cgroup").join(controller),
            // Version 2 has one hierarchy of all controllers. On systems with both versions it is
            // in the subfolder `unified`.
            false if controllers.is_empty() => {
                let corner = root.join("sys/fs/cgroup/unified");
                if corner.exists() { corner } else { root.join("sys/fs/cgroup") }
            }
            false => continue,
        };
        // In a container the group's folder may be the top.
        let own = top.join(group.trim_start_matches('/'));
        let around = own.ancestors().take_while(|folder| folder.starts_with(&top)).map(Path::to_owned);
        folders.extend(around.filter(|folder| folder.exists()));
    }
    folders
}

/// Returns the processor time that a group may use, in hundredths of a processor; `None` without a
/// quota.
fn quota(group: &Path) -> Option<u64> {
    let (quota, period) = match words(&group.join("cpu.max")) {
        Some(words) => (words.first()?.parse::<u64>().ok()?, words.get(1)?.parse::<u64>().ok()?),
        // Version 1 writes -1 for "no quota", which does not parse as an unsigned number.
        None => (number(&group.join("cpu.cfs_quota_us"))?, number(&group.join("cpu.cfs_period_us"))?),
    };
    quota.saturating_mul(100).checked_div(period)
}

/// Returns the number of processors that the process may run on: bits of proc(5)'s `Cpus_allowed`.
fn affinity(root: &Path) -> Option<u64> {
    let mask = field(&root.join("proc/self/status"), "Cpus_allowed")?;
    let bits = |part: &str| u32::from_str_radix(part, 16).map(|bits| u64::from(bits.count_ones()));
    let count = mask.split(',').map(bits).sum::<Result<u64, _>>().ok()?;
    Some(count).filter(|&count| count > 0)
}

/// Returns the number of threads that can run at the same time, at least 1: the processors of the
/// affinity, limited by the quotas. A quota of a fraction of a processor counts as one thread.
pub fn processors(root: &Path) -> usize {
    let known = || std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let allowed = affinity(root).unwrap_or_else(known);
    let least = groups(root, "cpu").iter().filter_map(|group| quota(group)).min();
    let paid = least.map_or(u64::MAX, |hundredths| hundredths.div_ceil(100));
    allowed.min(paid).max(1) as usize
}

/// Returns the bytes of memory that a group may use; `None` without a limit.
fn memory_limit(group: &Path) -> Option<u64> {
    let files = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    files.iter().filter_map(|file| number(&group.join(file))).min()
}

/// Returns the value of a line of `/proc/meminfo`, in bytes.
fn of_machine(root: &Path, name: &str) -> Option<u64> {
    let value = field(&root.join("proc/meminfo"), name)?;
    value.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the bytes of memory that the process can use in total: the machine's memory, or the
/// smallest limit of its groups. `None` if neither is known.
pub fn memory(root: &Path) -> Option<u64> {
    let limits = groups(root, "memory");
    limits.iter().filter_map(|group| memory_limit(group)).chain(of_machine(root, "MemTotal")).min()
}

/// Memory that the machine, or a control group, allows the process to use.
struct MemoryLevel {
    /// Bytes in total.
    limit: u64,
    /// Bytes that are available.
    available: u64,
}

/// Returns the limits of the groups that contain the process, and of the machine. A group's
/// inactive page cache counts as available.
fn memory_levels(root: &Path) -> impl Iterator<Item = MemoryLevel> {
    let of_group = |group: PathBuf| {
        let used = number(&group.join("memory.current")).or_else(|| number(&group.join("memory.usage_in_bytes")))?;
        let used = used.saturating_sub(unused_files(&group));
        let limit = memory_limit(&group)?;
        Some(MemoryLevel { limit, available: limit.saturating_sub(used) })
    };
    let machine = of_machine(root, "MemAvailable")
        .map(|available| MemoryLevel { limit: of_machine(root, "MemTotal").unwrap_or(available), available });
    groups(root, "memory").into_iter().filter_map(of_group).chain(machine)
}

/// Returns the bytes of memory that the process can still allocate.
pub fn available_memory(root: &Path) -> Option<u64> {
    memory_levels(root).map(|level| level.available).min()
}

/// Returns the bytes of memory that the process should return because the host has too few. If the
/// machine, or a group that contains the process, has less than a sixteenth of its memory
/// available, these are the bytes up to an eighth. If programs wait for memory, all bytes that the
/// process can spare are wanted. Returns 0 otherwise.
pub fn wanted_memory(root: &Path) -> u64 {
    if is_under_pressure(root) {
        return u64::MAX;
    }
    let wanted = |MemoryLevel { limit, available }| match available < limit / 16 {
        true => (limit / 8).saturating_sub(available),
        false => 0,
    };
    memory_levels(root).map(wanted).max().unwrap_or(0)
}

/// Returns true if programs have waited for memory in more than a tenth of the last ten seconds:
/// those of any control group that contains the process, or of the machine if no group reports
/// this. Memory that this process returns helps neither a group that waits because of its own limit
/// nor programs outside of the groups.
fn is_under_pressure(root: &Path) -> bool {
    const MAX_PERCENT: f64 = 10.0;
    let stalled = |path: PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        some.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse::<f64>().ok()
    };
    // The root group has no type. Its pressure is that of the machine, which counts other groups.
    let contains_all = |group: &PathBuf| !group.join("cgroup.type").exists();
    let groups = groups(root, "memory").into_iter().filter(|group| !contains_all(group));
    let of_groups = groups.filter_map(|group| stalled(group.join("memory.pressure"))).reduce(f64::max);
    let percent = of_groups.or_else(|| stalled(root.join("proc/pressure/memory")));
    percent.is_some_and(|percent| percent > MAX_PERCENT)
}

/// Returns the bytes of a group's inactive page cache.
fn unused_files(group: &Path) -> u64 {
    let text = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    // In version 1, `total_` values include all groups below, as the group's usage does.
    value("total_inactive_file ").or_else(|| value("inactive_file ")).unwrap_or(0)
}

/// Returns the default size of the heap in bytes: half of the memory, so that the host's programs
/// keep the other half. The result is at least 64 MiB, and 4 GiB if the memory is unknown.
pub fn default_heap(root: &Path) -> u64 {
    const UNKNOWN: u64 = 4 << 30;
    (memory(root).map_or(UNKNOWN, |memory| memory / 2)).max(64 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files of a simulated machine, removed on drop.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("vitric-host-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:  16777216 kB\nMemFree: 1 kB\nMemAvailable:  8388608 kB\n");
    const STATUS: (&str, &str) = ("proc/self/status", "Name:\tx\nCpus_allowed:\tffff0000,0000000f\nThreads:\t1\n");
    const GIB: u64 = 1 << 30;

    #[test]
    fn affinity_and_the_whole_memory_without_groups() {
        let machine = Machine::new("plain", &[MEMORY, STATUS]);
        assert_eq!(processors(&machine.0), 20);
        assert_eq!(memory(&machine.0), Some(16 * GIB));
        assert_eq!(available_memory(&machine.0), Some(8 * GIB));
        assert_eq!(default_heap(&machine.0), 8 * GIB);
    }

    #[test]
    fn groups_of_version_2_and_those_around_them() {
        let machine = Machine::new(
            "two",
            &[
                MEMORY,
                STATUS,
                ("proc/self/cgroup", "0::/work/job\n"),
                ("sys/fs/cgroup/work/cpu.max", "250000 100000\n"),
                ("sys/fs/cgroup/work/job/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/work/memory.max", "1073741824\n"),
                ("sys/fs/cgroup/work/memory.current", "805306368\n"),
                ("sys/fs/cgroup/work/memory.stat", "anon 7\ninactive_file 268435456\n"),
                ("sys/fs/cgroup/work/job/memory.max", "max\n"),
                ("sys/fs/cgroup/work/job/memory.high", "2147483648\n"),
                ("sys/fs/cgroup/work/job/memory.current", "1000\n"),
            ],
        );
        assert_eq!(processors(&machine.0), 3, "two and a half processors are worth three threads");
        assert_eq!(memory(&machine.0), Some(GIB));
        assert_eq!(available_memory(&machine.0), Some(GIB / 2));
        assert_eq!(default_heap(&machine.0), GIB / 2);
    }

    #[test]
    fn groups_of_version_1() {
        let machine = Machine::new(
            "one",
            &[
                MEMORY,
                STATUS,
                ("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/\n"),
                ("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "536870912\n"),
                ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "536870000\n"),
                ("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
        );
        assert_eq!(processors(&machine.0), 1);
        assert_eq!(memory(&machine.0), Some(GIB / 2));
        assert_eq!(available_memory(&machine.0), Some(1912));
    }

    /// Inside a container, the group is listed under its name on the host, but its folder is the
    /// top.
    #[test]
    fn a_group_that_is_not_below_the_top_is_the_top() {
        let machine = Machine::new(
            "container",
            &[
                MEMORY,
                STATUS,
                ("proc/self/cgroup", "0::/../other/pod\n"),
                ("sys/fs/cgroup/cpu.max", "400000 100000\n"),
                ("sys/fs/cgroup/memory.max", "100\n"),
            ],
        );
        assert_eq!(processors(&machine.0), 4);
        assert_eq!(default_heap(&machine.0), 64 << 20, "less would be of no use");
    }

    #[test]
    fn memory_is_wanted_if_little_is_available() {
        let wanted = |name: &str, available: u64, group: &str, around: &str| {
            let memory = format!("MemTotal: {} kB\nMemAvailable: {} kB\n", 16 << 20, available >> 10);
            let files = [
                ("proc/meminfo", memory.as_str()),
                ("proc/self/cgroup", "0::/work/job\n"),
                ("sys/fs/cgroup/work/job/memory.high", "1600000\n"),
                ("sys/fs/cgroup/work/job/memory.current", group),
                ("sys/fs/cgroup/work/memory.max", "3200000\n"),
                ("sys/fs/cgroup/work/memory.current", around),
            ];
            wanted_memory(&Machine::new(name, &files).0)
        };
        assert_eq!(wanted("plenty", GIB, "1500000", "3000000"), 0);
        // Each limit is compared with its own available memory.
        assert_eq!(wanted("little", GIB - 4096, "0", "0"), GIB + 4096);
        assert_eq!(wanted("high", GIB, "1510000", "0"), 200_000 - 90_000);
        assert_eq!(wanted("around", GIB, "0", "3100000"), 400_000 - 100_000);
        assert_eq!(wanted("both", GIB, "1510000", "3100000"), 400_000 - 100_000);
    }

    #[test]
    fn all_memory_is_wanted_if_programs_wait() {
        let stalls = |percent: &str| format!("some avg10={percent} avg60=0.00 avg300=0.00 total=7\nfull avg10=99.00\n");
        // The pressure of the machine, of the group above the process's group, and of its group.
        let wanted = |name: &str, [machine, work, job]: [&str; 3]| {
            let files = [
                MEMORY,
                ("proc/self/cgroup", "0::/work/job\n"),
                ("proc/pressure/memory", machine),
                ("sys/fs/cgroup/memory.pressure", machine),
                ("sys/fs/cgroup/work/memory.pressure", work),
                ("sys/fs/cgroup/work/cgroup.type", "domain\n"),
                ("sys/fs/cgroup/work/job/memory.pressure", job),
                ("sys/fs/cgroup/work/job/cgroup.type", "domain\n"),
            ];
            wanted_memory(&Machine::new(name, &files).0)
        };
        let [none, few, many] = ["0.00", "10.00", "10.01"].map(stalls);
        assert_eq!(wanted("few", [&few, "", ""]), 0);
        assert_eq!(wanted("machine", [&many, "", ""]), u64::MAX);
        assert_eq!(wanted("job", [&none, &none, &many]), u64::MAX);
        assert_eq!(wanted("work", [&none, &many, &none]), u64::MAX, "a group around the smallest one waits");
        assert_eq!(wanted("others", [&many, &none, &none]), 0, "other groups wait");
    }

    #[test]
    fn nonsense_is_passed_over() {
        let machine = Machine::new(
            "nonsense",
            &[
                ("proc/self/cgroup", "what\n0::\n:::\n"),
                ("proc/self/status", "Cpus_allowed:\tzz\n"),
                ("proc/meminfo", "MemTotal: lots\n"),
                ("sys/fs/cgroup/cpu.max", "100 0\n"),
                ("sys/fs/cgroup/memory.max", "-7\n"),
            ],
        );
        assert!(processors(&machine.0) >= 1);
        assert_eq!((memory(&machine.0), default_heap(&machine.0)), (None, 4 * GIB));
        assert_eq!((available_memory(&machine.0), wanted_memory(&machine.0)), (None, 0));
    }
}
