//! A file system that serves outdated content in one arm only, which the comparison of arms must
//! detect.

use std::thread;

use fabric::Action;
use harness::{
    MemoryPlayer, Player, play,
    process::{ProcessArm, ProcessOptions, Stage},
};
use memory::Played;
use observe::Descriptor;
use platforms::{NodeName, Platforms};
use reports::FindingKind;
use scenarios::{
    FileOp, FilePlace, FileRef, RuleAction, RuleEffect, RuleLasting, Step, StepAction, Story,
};
use simfs::SimTime;
use terms::Arm;

use crate::reference;

/// The process arm with a port's state file that never changes.
struct Stale(ProcessArm);

impl Player for Stale {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        let mut stale = story.clone();
        let cut = story.actions().find_map(|action| match action {
            StepAction::World(Action::Port(slot, _)) => Some(slot.clone()),
            _ => None,
        });
        let state = FileRef::Port(cut.expect("the story cuts a port"), "state".to_owned());
        stale.given.push(Step {
            at: SimTime::ZERO,
            place: FilePlace::default(),
            text: "states are stale".to_owned(),
            moment: None,
            actions: vec![StepAction::Rule(RuleAction {
                node: NodeName::from("node-a"),
                file: state,
                ops: vec![FileOp::Read],
                effect: RuleEffect::Content(b"4: ACTIVE\n".to_vec()),
                lasting: RuleLasting::Always,
                appears_later: false,
            })],
        });
        self.0.play(&stale, descriptor)
    }
}

pub(crate) fn stale_bytes_in_the_mount_alone_make_the_arms_differ() {
    let (_, text) = suite::scenarios()
        .into_iter()
        .find(|(file, _)| file.ends_with("port/cable-pulled.yaml"))
        .expect("it ships");
    let scenario = scenarios::read("port/cable-pulled.yaml", text).expect("it can be read");
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("it ships");
    let node = NodeName::from("node-a");
    let story = scenario.in_world(&node, platform).expect("it fits");
    let result = thread::spawn(move || {
        let stage = Stage::here().expect("there is a stage");
        let arm = ProcessArm::new(&stage, 0, ProcessOptions::default()).expect("an arm");
        let (mut memory, mut stale) = (MemoryPlayer::default(), Stale(arm));
        play(&story, &reference(), &mut [&mut memory, &mut stale])
    });
    let result = result.join().expect("a player does not panic");
    let differs = |finding: &&reports::Finding| finding.kind == FindingKind::ArmsDiffer;
    let finding = result
        .findings
        .iter()
        .find(differs)
        .expect("the arms differ");
    assert_eq!(finding.tick, Some(10), "{finding:?}");
}
