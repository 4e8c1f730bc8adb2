//! The thread that detects killed processes with held requests.
//!
//! fuser answers FUSE_INTERRUPT with ENOSYS, so that only the server can end the wait
//! (`request_wait_answer`, `fs/fuse/dev.c`). A pending SIGKILL of the waiting thread is visible in
//! `/proc/<tid>/status`; every fatal signal becomes SIGKILL there (`complete_signal`,
//! `kernel/signal.c`).

use std::{fs, sync::Arc, time::Duration};

use simfs::Errno;

use crate::{HoldId, request::Why, shared::Shared};

/// The polling interval, so that a killed process is released within 50 ms.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The bit of SIGKILL in a mask of signals.
const SIGKILL_BIT: u64 = 1 << (9 - 1);

pub(crate) fn run(shared: &Arc<Shared>) {
    while shared.wait_for_holds(LOOK_INTERVAL) {
        let waiting: Vec<(HoldId, u32)> = shared
            .holds()
            .waiting()
            .map(|(id, held)| (id, held.pending.pid))
            .collect();
        for (id, pid) in waiting {
            if is_killed(pid) {
                end(shared, id, pid);
            }
        }
    }
}

fn end(shared: &Arc<Shared>, id: HoldId, pid: u32) {
    let mut holds = shared.holds();
    let Some((_, held)) = holds.waiting().find(|(held, _)| *held == id) else {
        return;
    };
    if matches!(
        held.why,
        Why::Hang {
            killable: false,
            ..
        }
    ) {
        let seen = std::mem::replace(&mut held.reported_stuck, true);
        drop(holds);
        if !seen {
            shared.observer.stuck(id, pid);
        }
        return;
    }
    drop(holds);
    if shared.answer(id, Errno::EINTR) {
        shared.observer.killed(id, pid);
    }
}

/// Whether SIGKILL is pending for a thread, or the thread has ended. A thread of a pid namespace that
/// the server does not see has the number 0, and is never considered killed.
fn is_killed(tid: u32) -> bool {
    if tid == 0 {
        return false;
    }
    let Ok(status) = fs::read_to_string(format!("/proc/{tid}/status")) else {
        return true;
    };
    status
        .lines()
        .filter_map(|line| {
            line.strip_prefix("SigPnd:")
                .or_else(|| line.strip_prefix("ShdPnd:"))
        })
        .filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .any(|mask| mask & SIGKILL_BIT != 0)
}
