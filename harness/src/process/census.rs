//! Which processes are in which mount namespace, counted once for all monitors: if each monitor had every process of the machine
//! looked at, many monitors would take the machine. Start at [`lately_in`].

use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::Pid;

use super::mount_space::{NamespaceId, namespace_of, processes};

/// How long a count serves, at least. Chosen: a monitor starts some hundred processes in that time.
const SERVES: Duration = Duration::from_millis(20);

/// How many times as long as it took a count serves: counting takes a tenth of a CPU at most.
const TIMES: u32 = 10;

/// The pid that the kernel has given last in the pid namespace of whoever reads it (`ns_last_pid`,
/// admin-guide/sysctl/kernel.rst). What is started in a namespace below gets a pid there too.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

/// The last count.
static LAST: Mutex<Option<Census>> = Mutex::new(None);

/// A count of all processes.
struct Census {
    taken: Instant,
    serves: Duration,
    /// The last pid that had been given before it.
    last_pid: Option<usize>,
    of: BTreeMap<NamespaceId, Vec<Pid>>,
}

impl Census {
    fn take() -> Self {
        let began = Instant::now();
        let last_pid = last_pid();
        let mut of: BTreeMap<NamespaceId, Vec<Pid>> = BTreeMap::new();
        for pid in processes() {
            if let Some(id) = namespace_of(pid) {
                of.entry(id).or_default().push(pid);
            }
        }
        let taken = Instant::now();
        let serves = SERVES.max((taken - began) * TIMES);
        Self {
            taken,
            serves,
            last_pid,
            of,
        }
    }

    /// How many processes and threads can have been started since, on the whole machine; without end if the kernel does not
    /// tell it, or its pids have begun anew.
    fn started_since(&self) -> usize {
        let since = last_pid().zip(self.last_pid);
        let since = since.and_then(|(now, then)| now.checked_sub(then));
        since.unwrap_or(usize::MAX)
    }
}

fn last_pid() -> Option<usize> {
    fs::read_to_string(LAST_PID).ok()?.trim().parse().ok()
}

/// The processes that were in a namespace a short time ago, and how many more can be there now; some may have ended since.
pub(super) fn lately_in(id: NamespaceId) -> (Vec<Pid>, usize) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let census = last.take().filter(|it| it.taken.elapsed() < it.serves);
    let census = last.insert(census.unwrap_or_else(Census::take));
    let pids = census.of.get(&id).cloned().unwrap_or_default();
    (pids, census.started_since())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::getpid;

    use super::*;

    #[test]
    fn a_count_has_this_process_in_its_namespace_and_nobody_in_none() {
        let own = namespace_of(getpid()).expect("it runs");
        assert!(lately_in(own).0.contains(&getpid()));
        assert_eq!(lately_in((0, 0)).0, []);
    }

    #[test]
    fn who_was_started_after_a_count_is_in_the_number_of_those_who_can_be_missing() {
        let own = namespace_of(getpid()).expect("it runs");
        let (before, _) = lately_in(own);
        let mut child = Command::new("sleep").arg("60").spawn().expect("coreutils");
        let (after, more) = lately_in(own);
        let is_counted = after.contains(&Pid::from_child(&child));
        child.kill().expect("it is a child");
        child.wait().expect("it is a child");
        assert!(is_counted || more > 0, "{before:?} {after:?} {more}");
    }
}
