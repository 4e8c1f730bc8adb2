//! What is found about a monitor that states in every poll what is, by the logical state of its ports alone: the template of
//! `nicdrill init` in the shell.

use std::sync::Arc;

use director::PortView;
use memory::Played;
use observe::{
    Call, Descriptor, MonitorTick, Observation, Promises, Protocol, Reads, Subject,
    promises::{Kind, Lasting, Named, Row, documents_row},
};
use platforms::PortState;
use scenarios::Story;
use terms::{LinkLayer, Severity};

use crate::played::{found, played, shown};

/// What is asked.
const ASKED: [&str; 13] = [
    "wire",
    "down",
    "disabled",
    "polling",
    "training",
    "init",
    "armed",
    "odd_state",
    "link_error_recovery",
    "first_poll",
    "hot_added",
    "reboot",
    "reboot.after",
];

/// What it says of a port.
fn by_state(port: &PortView) -> Severity {
    match port.state {
        PortState::ACTIVE => Severity::Healthy,
        PortState::DOWN => Severity::Fatal,
        _ => Severity::NonFatal,
    }
}

/// Makes a recording of the reference monitor one of this monitor: it says of every port that is listed what it reads, and
/// reads no physical state.
fn stated(story: &Story, played: &mut Played) {
    let node = &story.monitors[0];
    played.recording.protocol = Protocol::Lines;
    let ticks = played.recording.ticks.iter_mut();
    for (tick, truth) in ticks.zip(&played.truth.ticks) {
        let functions = truth.nodes.get(node).into_iter();
        let functions = functions.flat_map(|of| of.views.0.values());
        let listed = functions.filter(|of| of.listed && of.monitored);
        let ports = listed.flat_map(|of| {
            let ports = of.ports.iter().filter(|(_, port)| port.listed);
            ports.map(move |(number, port)| (of, number, port))
        });
        let said = ports.map(|(of, number, port)| Observation {
            subject: Subject::Port {
                device: of.name.to_string(),
                port: number.to_string(),
            },
            severity: by_state(port),
            ..Observation::default()
        });
        let said: Vec<Observation> = said.collect();
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            says(Arc::make_mut(monitor), &said);
        }
    }
}

fn says(monitor: &mut MonitorTick, said: &[Observation]) {
    let reads = monitor.reads.iter();
    let reads = reads.filter(|line| !line.contains("/phys_state: "));
    let reads: Vec<Arc<str>> = reads.cloned().collect();
    monitor.reads = Reads::from(reads);
    monitor.calls.clear();
    if monitor.polls > 0 {
        monitor.calls.push(Call {
            observations: said.to_vec(),
            fields: Vec::new(),
            accepted: true,
            answer: "a page".to_owned(),
        });
    }
}

#[test]
fn a_monitor_that_states_what_it_reads_is_described_by_its_rows() {
    let mut drills = played(None, |story| {
        let mut asked = story.covers.iter().filter_map(|it| it.strip_prefix("fit/"));
        asked.any(|asked| ASKED.contains(&asked))
    });
    for (story, played) in &mut drills {
        stated(story, played);
    }
    let promises: Promises = files::yaml::read("promises.yaml", "style: level")
        .unwrap_or_else(|error| panic!("{error}"));
    let descriptor = Descriptor {
        speaks: Protocol::Lines,
        promises,
        ..Descriptor::of_program("m")
    };
    let fitted = found(&descriptor, &drills);
    let shown = shown(&fitted);
    // It waits for nothing.
    for named in [Named::FirstPoll, Named::HotAdded, Named::Reboot] {
        let row = fitted.promises.rows.get(&Kind::from(named));
        let after = row.and_then(|row| match row {
            Row::Says(says) => says.after,
            Row::Silent | Row::Usual => None,
        });
        assert_eq!(after, Some(Lasting::NOTHING), "{named:?}\n{shown}");
    }
    // It says on Ethernet what it says on InfiniBand, about which the documents are silent (docs/decisions.md, 1).
    for named in [Named::Init, Named::Armed] {
        let row = fitted.promises.rows.get(&Kind::from(named));
        let row = row.unwrap_or_else(|| panic!("no row for {named:?}\n{shown}"));
        let row = row.over(&documents_row(&named.into()));
        let verdict = |layer| match row.on(layer) {
            Row::Says(says) => says.verdict,
            Row::Silent | Row::Usual => None,
        };
        let nonfatal = Some(Severity::NonFatal);
        assert_eq!(verdict(LinkLayer::Ethernet), nonfatal, "{shown}");
        assert_eq!(verdict(LinkLayer::InfiniBand), nonfatal, "{shown}");
    }
    // A port that is ACTIVE and disabled is well to it, so that it promises nothing about ports that are disabled.
    let disabled = fitted.promises.rows.get(&Kind::from(Named::Disabled));
    assert_eq!(disabled, None, "{shown}");
    let mut unfound = fitted.unfound.iter();
    assert!(unfound.any(|it| it.starts_with("disabled: ")), "{shown}");
}
