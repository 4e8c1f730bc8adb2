//! Which standstills are stalls.

use std::process::{Child, Command};

use rstest::rstest;
use rustix::process::{Signal, kill_process};

use super::{standing::Thread, *};

/// A process that waits, and is killed when the test is over.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        let waiting = Self(Command::new("sleep").arg("600").spawn().unwrap());
        while waiting.state() != 'S' {
            thread::yield_now();
        }
        waiting
    }

    /// Its state as the kernel shows it.
    fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.trim_start().chars().next().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Sends a signal and waits until the process is stopped by it, or goes on.
    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
        while (self.state() == 'T') != (signal == Signal::STOP) {
            thread::yield_now();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn state() -> State {
    State {
        cpus: 1,
        beat: Instant::now(),
        monitors: BTreeMap::new(),
        looks: Box::leak(Box::new(Pace::new())),
        due: Instant::now(),
        load: Load::new(Instant::now()),
        stall: None,
        own: None,
    }
}

#[test]
fn a_late_beat_is_a_stall_and_a_usual_one_is_none() {
    let mut state = state();
    let begun = state.beat;
    state.look(begun + BEAT);
    assert_eq!(state.stall, None);
    state.look(begun + BEAT + STALL);
    assert_eq!(
        state.stall.as_deref(),
        Some("nicdrill stood still for 0.4 s")
    );
}

#[test]
fn a_monitor_that_was_stopped_for_a_while_has_stalled() {
    let waiting = Waiting::start();
    let mut state = state();
    let begun = state.beat;
    let pid = waiting.pid().as_raw_nonzero().get();
    state.monitors.insert(pid, Standing::default());
    waiting.signal(Signal::STOP);
    state.look(begun + BEAT);
    state.look(begun + 2 * BEAT);
    assert_eq!(state.stall, None, "the stop is not over");
    waiting.signal(Signal::CONT);
    state.look(begun + 3 * BEAT);
    assert_eq!(
        state.stall.as_deref(),
        Some("a signal had stopped the monitor for 0.1 s")
    );
}

#[test]
fn a_monitor_that_waits_by_itself_or_has_ended_has_not_stalled() {
    let mut state = state();
    let begun = state.beat;
    let waiting = Waiting::start();
    let pid = waiting.pid().as_raw_nonzero().get();
    state.monitors.insert(pid, Standing::default());
    for beat in 1..40 {
        state.look(begun + beat * BEAT);
    }
    drop(waiting);
    state.look(begun + 40 * BEAT);
    assert_eq!(state.stall, None);
    assert!(state.monitors.is_empty());
}

/// The only thread of a process, after so many milliseconds on a CPU and so many waiting for one.
fn thread_after(ran_ms: u64, waited_ms: u64) -> Vec<Thread> {
    vec![Thread {
        id: "7".to_owned(),
        state: 'S',
        ran_ns: ran_ms * 1_000_000,
        waited_ns: waited_ms * 1_000_000,
    }]
}

#[rstest]
#[case::many_short_waits(100, 1900, Some("the monitor waited for a CPU for 1.9 s of 2.0 s"))]
#[case::a_sixth_of_a_cpu(334, 1666, None)]
#[case::mostly_asleep(10, 90, None)]
fn a_monitor_that_hardly_gets_a_cpu_has_stalled(
    #[case] ran_ms: u64,
    #[case] waited_ms: u64,
    #[case] told: Option<&str>,
) {
    let mut standing = Standing::default();
    let begun = Instant::now();
    let mut look = |part: u32| {
        let so_far = |whole: u64| 1000 + whole * u64::from(part) / 40;
        let threads = thread_after(so_far(ran_ms), so_far(waited_ms));
        standing.judge(threads, begun + BEAT * part).unwrap()
    };
    for part in 0..40 {
        assert_eq!(look(part), None, "the span is not over");
    }
    assert_eq!(look(40).as_deref(), told);
}

#[test]
fn a_drill_begins_without_the_stalls_of_the_one_before() {
    let watchdog = Watchdog::start(1).unwrap();
    lock(&watchdog.state).beat -= 2 * STALL;
    assert!(watchdog.stall().is_some());
    watchdog.begin();
    assert_eq!(watchdog.stall(), None);
}
