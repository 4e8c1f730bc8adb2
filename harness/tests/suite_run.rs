//! The events that a run reports: order, ends, exit codes, and the comparison of repeats.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use harness::{
    Interruption, MemoryPlayer, Player,
    descriptors::shipped,
    read_files::Library,
    run_folder::Artifact,
    suite::{Ask, Audience, How, NoProcessArm, Players, ProcessArm, Selected, run, select},
};
use memory::Played;
use observe::{Broken, Descriptor, Promises};
use reports::{
    DrillName, ExitCode, FindingKind, JudgedBy, Outcome, ProbeOutcome, RunEvent, RunReport,
};
use rstest::rstest;
use scenarios::Story;
use terms::Arm;

/// Records the events.
#[derive(Default)]
struct Listener {
    heard: Vec<String>,
    artifacts: Vec<String>,
}

impl Audience for Listener {
    fn hear(&mut self, event: &RunEvent) {
        let text = match event {
            RunEvent::RunStarted(plan) => format!("started {}", plan.drills.len()),
            RunEvent::Probe {
                outcome: ProbeOutcome::Failed { .. },
                ..
            } => "probe failed".to_owned(),
            RunEvent::Probe { .. } => "probed".to_owned(),
            RunEvent::NotApplicable(pair) => format!("not applicable {}", pair.drill),
            RunEvent::DrillStarted(planned) => format!("started {}", planned.drill),
            RunEvent::DrillPassed(drill) => format!("passed {}", drill.drill),
            RunEvent::DrillFailed(drill) => format!("failed {}", drill.drill),
            RunEvent::DrillSkipped(drill) => format!("skipped {}", drill.drill),
            RunEvent::DrillKnown(drill) => format!("known {}", drill.drill),
            RunEvent::Excuses(_) => "excuses".to_owned(),
            RunEvent::Coverage(_) => "coverage".to_owned(),
            RunEvent::RunEnded { exit_code, .. } => format!("ended {exit_code}"),
        };
        self.heard.push(text);
    }

    fn receive(&mut self, drill: &DrillName, artifacts: &[Artifact]) {
        let names = artifacts
            .iter()
            .map(|artifact| format!("{drill}/{}", artifact.name));
        self.artifacts.extend(names);
    }

    fn repeat(&mut self, number: u32) {
        self.heard.push(format!("repeat {number}"));
    }

    fn whole(&mut self) {
        self.heard.push("whole".to_owned());
    }
}

/// A worker for which the kernel refuses something.
fn refused(what: &str) -> NoProcessArm {
    io::Error::other(what.to_owned()).into()
}

/// A stand-in for the process arm: plays in memory, with configured differences.
struct Double {
    plays: Arc<AtomicU32>,
    /// From this play on it records a different read.
    strays_from: u32,
}

impl Player for Double {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        let mut played = MemoryPlayer::default().play(story, descriptor);
        played.arm = Arm::Process;
        if self.plays.fetch_add(1, Ordering::SeqCst) + 1 >= self.strays_from {
            let tick = played
                .recording
                .ticks
                .last_mut()
                .expect("a drill has ticks");
            let monitors = Arc::make_mut(&mut tick.monitors);
            let first = monitors.values_mut().next();
            Arc::make_mut(first.expect("a monitor runs there")).state_file = None;
        }
        played
    }
}

fn library() -> Library {
    Library::read(&[], &[]).unwrap()
}

fn descriptor() -> Descriptor {
    shipped("reference").unwrap()
}

fn selected(names: &[&str], arms: &[Arm]) -> Selected {
    let ask = Ask {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        arms: arms.iter().copied().collect::<BTreeSet<_>>(),
        ..Ask::default()
    };
    select(&library(), &descriptor(), &ask).unwrap()
}

fn check(selected: &Selected, how: &How<'_>) -> (RunReport, Listener) {
    let mut listener = Listener::default();
    let report = run(&library(), &descriptor(), selected, how, &mut listener);
    (report, listener)
}

const BOTH: [Arm; 2] = [Arm::Memory, Arm::Process];

#[test]
fn drills_are_told_in_order_however_many_jobs_there_are() {
    let chosen = selected(&["start/baseline", "port/cable-pulled"], &[Arm::Memory]);
    let heard = |jobs| {
        check(
            &chosen,
            &How {
                jobs: Some(jobs),
                ..How::default()
            },
        )
        .1
        .heard
    };
    let one = heard(1);
    assert_eq!(
        one.first().unwrap(),
        &format!("started {}", chosen.drills.len())
    );
    assert_eq!(one.last().unwrap(), "ended 0");
    assert_eq!(one, heard(4));
}

#[test]
fn a_process_arm_that_is_not_to_be_had_is_skipped_with_its_reason() {
    let chosen = selected(&["start/baseline@h100-oci"], &BOTH);
    let how = How {
        process: Some(Err(refused("no /dev/fuse"))),
        ..How::default()
    };
    let (report, _) = check(&chosen, &how);
    assert_eq!(report.exit_code, Some(ExitCode::Success));
    assert_eq!(
        (report.summary.process.run, report.summary.process.planned),
        (0, 1)
    );
    assert_eq!(
        report.summary.process_skipped.as_deref(),
        Some("no /dev/fuse")
    );
    let (report, _) = check(
        &chosen,
        &How {
            require_process: true,
            ..how
        },
    );
    assert_eq!(report.exit_code, Some(ExitCode::StageNotSet));
}

#[test]
fn a_run_in_which_every_drill_was_skipped_is_not_green_unless_that_was_asked_for() {
    let chosen = selected(&["start/baseline@h100-oci"], &[Arm::Process]);
    let how = How {
        process: Some(Err(refused("no /dev/fuse"))),
        ..How::default()
    };
    let (report, listener) = check(&chosen, &how);
    assert_eq!(report.exit_code, Some(ExitCode::StageNotSet));
    assert!(
        listener
            .heard
            .contains(&"skipped start/baseline@h100-oci".to_owned())
    );
    let (report, _) = check(
        &chosen,
        &How {
            allow_skips: true,
            ..how
        },
    );
    assert_eq!(report.exit_code, Some(ExitCode::Success));
}

#[test]
fn a_monitor_that_promises_nothing_is_never_found_right() {
    let chosen = selected(&["port/cable-pulled@h100-oci"], &[Arm::Memory]);
    let silent = Descriptor {
        promises: Promises::default(),
        ..descriptor()
    };
    let how = How::default();
    let report = run(&library(), &silent, &chosen, &how, &mut Listener::default());
    assert_eq!(report.drills[0].findings, []);
    assert_eq!(report.exit_code, Some(ExitCode::NothingJudged));
    let monitor = "reference".to_owned();
    assert_eq!(report.plan.judged_by, JudgedBy::Laws { monitor });
}

/// What the reference monitor promises is not what every site needs.
#[rstest]
#[case::met("kinds: { disabled: { noticed: within 5s } }", 0, ExitCode::Success)]
#[case::not_met("never_alarms: { disabled: always }", 1, ExitCode::JudgedWrongly)]
#[case::of_nothing_that_happens(
    "kinds: { slow: { noticed: within 5s } }",
    0,
    ExitCode::NothingJudged
)]
fn with_needs_a_monitor_is_judged_by_them_alone(
    #[case] needs: &str,
    #[case] findings: usize,
    #[case] code: ExitCode,
) {
    let chosen = selected(&["port/cable-pulled@h100-oci"], &[Arm::Memory]);
    let text = format!("needs_version: 1\n{needs}\n");
    let how = How {
        needs: Some(harness::needs::read("n.yaml", &text, None).unwrap()),
        ..How::default()
    };
    let (report, _) = check(&chosen, &how);
    let found = &report.drills[0].findings;
    assert_eq!(found.len(), findings, "{found:#?}");
    assert_eq!(report.exit_code, Some(code));
    let file = "n.yaml".to_owned();
    assert_eq!(report.plan.judged_by, JudgedBy::Needs { file });
}

#[test]
fn a_probe_that_fails_ends_the_run_before_its_first_drill() {
    let chosen = selected(&["start/baseline@h100-oci"], &BOTH);
    let probe = || {
        ProbeOutcome::Failed {
            reason: "it hangs".to_owned(),
            exit_code: ExitCode::CrashedOrHung,
        }
        .into()
    };
    let players: &Players<'_> = &|_| Err(refused("nobody plays"));
    let arm = ProcessArm {
        probe: &probe,
        players,
    };
    let (report, listener) = check(
        &chosen,
        &How {
            process: Some(Ok(arm)),
            ..How::default()
        },
    );
    assert_eq!(report.exit_code, Some(ExitCode::CrashedOrHung));
    assert_eq!(listener.heard, ["started 1", "probe failed", "ended 101"]);
}

#[test]
fn a_repeat_that_tells_something_else_is_a_failure() {
    let chosen = selected(&["start/baseline@h100-oci"], &[Arm::Process]);
    let repeated = |strays_from| {
        let plays = Arc::new(AtomicU32::new(0));
        let probe = || ProbeOutcome::READY.into();
        let players: &Players<'_> = &|_| {
            Ok(Box::new(Double {
                plays: Arc::clone(&plays),
                strays_from,
            }) as Box<dyn Player>)
        };
        let arm = ProcessArm {
            probe: &probe,
            players,
        };
        check(
            &chosen,
            &How {
                repeat: Some(3),
                process: Some(Ok(arm)),
                ..How::default()
            },
        )
    };
    let (report, listener) = repeated(u32::MAX);
    assert_eq!(report.exit_code, Some(ExitCode::Success));
    assert_eq!(
        listener
            .heard
            .iter()
            .filter(|heard| heard.starts_with("repeat"))
            .count(),
        3
    );
    let (report, listener) = repeated(3);
    assert_eq!(report.exit_code, Some(ExitCode::JudgedWrongly));
    assert_eq!(report.drills[0].outcome, Outcome::Failed);
    let rendered = &report.drills[0].findings[0].came[0];
    assert!(
        rendered.starts_with("repeat 3 is not the first one again"),
        "{rendered}"
    );
    let again = &report.drills[0].repeat;
    assert!(again.ends_with(" --repeat 3"), "{again}");
    assert!(
        !listener.artifacts.is_empty(),
        "the repeat that differs leaves what it did"
    );
}

#[test]
fn an_interrupted_run_ends_early_and_is_not_green() {
    let chosen = selected(&["start/baseline"], &[Arm::Memory]);
    let interruption = Interruption::default();
    interruption.ask();
    let how = How {
        jobs: Some(1),
        interruption,
        ..How::default()
    };
    let (report, _) = check(&chosen, &how);
    assert_eq!(report.exit_code, Some(ExitCode::Interrupted));
    assert!(report.summary.not_reached > 0);
}

/// Panics in every drill except the first of each job.
struct Falling {
    plays: Arc<AtomicU32>,
}

impl Player for Falling {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        let is_first = self.plays.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(is_first, "it falls in this drill");
        let mut played = MemoryPlayer::default().play(story, descriptor);
        played.arm = Arm::Process;
        played
    }
}

#[test]
fn a_drill_that_panics_is_told_and_the_others_go_on() {
    let chosen = selected(&["start/baseline@*"], &[Arm::Process]);
    let plays = Arc::new(AtomicU32::new(0));
    let probe = || ProbeOutcome::READY.into();
    let players: &Players<'_> = &|_| {
        let plays = Arc::clone(&plays);
        Ok(Box::new(Falling { plays }) as Box<dyn Player>)
    };
    let arm = ProcessArm {
        probe: &probe,
        players,
    };
    let how = How {
        process: Some(Ok(arm)),
        ..How::default()
    };
    let (report, _) = check(&chosen, &how);
    assert_eq!(report.exit_code, Some(ExitCode::InternalFault));
    assert_eq!(report.summary.failed, chosen.drills.len() as u64 - 1);
    assert_eq!(report.summary.passed, 1);
    let mut fallen = report.drills.iter().flat_map(|drill| &drill.findings);
    assert!(
        fallen.all(|finding| finding.kind == FindingKind::Fault
            && finding.came == ["it falls in this drill"])
    );
}

/// A stand-in for the process arm on a machine that stalls in plays of `port/cable-pulled`.
struct Stalling {
    /// The scenarios that were played, in order, by all players.
    plays: Arc<Mutex<Vec<String>>>,
    /// In how many plays of it.
    times: usize,
    /// How such a play goes wrong.
    wrong: fn(&mut Played),
    stalls: bool,
    /// What was told meanwhile.
    told: Arc<Mutex<Vec<String>>>,
}

impl Player for Stalling {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        let mut played = MemoryPlayer::default().play(story, descriptor);
        played.arm = Arm::Process;
        let mut plays = self.plays.lock().unwrap();
        plays.push(story.name.clone());
        let before = plays.iter().filter(|name| **name == story.name).count();
        self.stalls = story.name == "port/cable-pulled" && before <= self.times;
        if self.stalls {
            (self.wrong)(&mut played);
        }
        played
    }

    fn stall(&mut self) -> Option<String> {
        self.stalls
            .then(|| "nicdrill stood still for 4.0 s".to_owned())
    }

    fn tells(&mut self, what: &str) {
        self.told.lock().unwrap().push(what.to_owned());
    }
}

fn hangs(played: &mut Played) {
    played.recording.broken = Some(Broken::Hung {
        tick: 0,
        waiting_for: "a poll".to_owned(),
    });
}

/// Its monitor says nothing.
fn is_silent(played: &mut Played) {
    for tick in &mut played.recording.ticks {
        for node in Arc::make_mut(&mut tick.monitors).values_mut() {
            Arc::make_mut(node).calls.clear();
        }
    }
}

/// Plays a drill in which the machine stalls so often, and another one, with two jobs; returns the outcomes, how often
/// and in which order they were played, and what was told meanwhile.
fn beside_load(
    descriptor: &Descriptor,
    times: usize,
    wrong: fn(&mut Played),
) -> (RunReport, Vec<String>, Vec<String>) {
    let chosen = selected(
        &["port/cable-pulled@h100-oci", "start/baseline@h100-oci"],
        &[Arm::Process],
    );
    let plays = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::<Mutex<Vec<String>>>::default();
    let probe = || ProbeOutcome::READY.into();
    let players: &Players<'_> = &|_| {
        Ok(Box::new(Stalling {
            told: Arc::clone(&told),
            plays: Arc::clone(&plays),
            times,
            wrong,
            stalls: false,
        }) as Box<dyn Player>)
    };
    let arm = ProcessArm {
        probe: &probe,
        players,
    };
    let how = How {
        process: Some(Ok(arm)),
        ..How::default()
    };
    let mut listener = Listener::default();
    let report = run(&library(), descriptor, &chosen, &how, &mut listener);
    let plays = plays.lock().unwrap().clone();
    let told = told.lock().unwrap().clone();
    (report, plays, told)
}

#[test]
fn a_drill_in_which_the_machine_stalls_is_played_again_when_nothing_else_is() {
    let (report, plays, told) = beside_load(&descriptor(), 5, hangs);
    let again = "port/cable-pulled on h100-oci is played again: the machine stalls: nicdrill stood still for 4.0 s";
    let alone =
        "port/cable-pulled@h100-oci is played again when all others are done: the machine stalls";
    assert_eq!(told, [again, again, again, alone, again]);
    assert_eq!(report.exit_code, Some(ExitCode::Success));
    let outcomes: Vec<_> = report.drills.iter().map(|drill| drill.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Passed]);
    assert_eq!(
        plays.len(),
        7,
        "four plays beside the other drill, and two alone: {plays:?}"
    );
    assert_eq!(plays[5..], ["port/cable-pulled", "port/cable-pulled"]);
}

#[test]
fn a_drill_in_which_the_machine_always_stalls_is_given_up_at_the_end() {
    let (report, plays, _) = beside_load(&descriptor(), usize::MAX, hangs);
    assert_eq!(report.exit_code, Some(ExitCode::StageNotSet));
    assert_eq!(plays.len(), 9, "{plays:?}");
}

#[test]
fn a_finding_that_depends_on_no_real_time_stands_although_the_machine_stalls() {
    let (report, plays, _) = beside_load(&descriptor(), usize::MAX, is_silent);
    assert_eq!(report.exit_code, Some(ExitCode::JudgedWrongly));
    assert_eq!(plays.len(), 2, "{plays:?}");
}

#[test]
fn a_finding_of_a_monitor_with_timeouts_stands_once_it_came_twice() {
    let mut descriptor = descriptor();
    descriptor.patient.clear();
    let (report, plays, _) = beside_load(&descriptor, usize::MAX, is_silent);
    assert_eq!(report.exit_code, Some(ExitCode::JudgedWrongly));
    assert_eq!(plays.len(), 3, "{plays:?}");
}
