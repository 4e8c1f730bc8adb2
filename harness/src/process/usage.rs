//! What processes use: their memory and their time on a CPU, as the kernel tells it.
//!
//! A process that ends meanwhile uses nothing. Start at [`private_kib`] and [`ran_ticks`].

use std::fs;

use rustix::process::Pid;

/// The private memory of a process, and what it shares without a file, in KiB. Processes that have forked count what they
/// still share several times.
pub(super) fn private_kib(pid: Pid) -> u64 {
    let status = text(pid, "status");
    kib(&status, "RssAnon:") + kib(&status, "RssShmem:")
}

/// The same, in which what several processes share is divided among them. It takes the kernel a walk over the memory.
pub(super) fn proportional_kib(pid: Pid) -> u64 {
    let rollup = text(pid, "smaps_rollup");
    if rollup.contains("Pss_Anon:") {
        return kib(&rollup, "Pss_Anon:") + kib(&rollup, "Pss_Shmem:");
    }
    private_kib(pid)
}

/// How long a process has run, with those of its children that it has waited for, in ticks of the kernel's accounting
/// (`USER_HZ`).
pub(super) fn ran_ticks(pid: Pid) -> u64 {
    ran(&text(pid, "stat"))
}

fn text(pid: Pid, file: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap_or_default()
}

/// A field of `proc_pid_status(5)` or `proc_pid_smaps(5)`: `RssAnon:      1234 kB`.
fn kib(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let number = value.and_then(|value| value.split_ascii_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The fields 14 to 17 of `proc_pid_stat(5)`: `utime`, `stime`, `cutime` and `cstime`.
fn ran(stat: &str) -> u64 {
    // The name of a program may have any character. The field behind it is the third.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let times = fields.split_ascii_whitespace().skip(11).take(4);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use rustix::process::getpid;

    use super::*;

    #[test]
    fn the_fields_of_the_kernel_are_read() {
        let status = "Name:\tm\nRssAnon:\t    1234 kB\nRssFile:\t  99 kB\nRssShmem:\t       8 kB\n";
        assert_eq!(kib(status, "RssAnon:") + kib(status, "RssShmem:"), 1242);
        assert_eq!(kib(status, "VmData:"), 0);
        let stat = "7 (a) b) c) S 1 7 7 0 -1 4194560 100 0 0 0 11 22 33 44 20 0 1 0 5 6 7";
        assert_eq!(ran(stat), 110);
        assert_eq!(ran(""), 0);
    }

    #[test]
    fn this_process_uses_memory_and_one_that_has_ended_none() {
        assert!(private_kib(getpid()) > 0);
        assert!(proportional_kib(getpid()) > 0);
        // The largest number of a process is far below this (`proc_sys_kernel(5)`, `pid_max`).
        let nobody = Pid::from_raw(i32::MAX).unwrap();
        assert_eq!((private_kib(nobody), ran_ticks(nobody)), (0, 0));
    }
}
