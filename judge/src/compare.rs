//! Compares two recordings of one story, tick by tick.
//!
//! Both arms, and every repeat, must have the same events with the same timestamps, in the same
//! calls and order, the same answers, polls and reads, the same end and the same state file. Log
//! lines (which differ between arms) and reads before the first poll are not compared. The mount
//! root, which a recording writes as `{root}`, is empty in memory. Start at [`compare`].

use std::fmt;

use observe::{Call, MonitorTick, Recording};

/// The first difference between two recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tick; `None` if the difference is about the whole drill.
    pub tick: Option<u64>,
    /// The node; `None` if it is about all nodes.
    pub node: Option<String>,
    /// What differs.
    pub what: &'static str,
    /// The first recording's value.
    pub one: String,
    /// The second recording's value.
    pub other: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tick {
            Some(tick) => write!(f, "at poll {tick}: {}", self.what),
            None => write!(f, "{}", self.what),
        }
    }
}

/// The first difference between two recordings of one story; `None` if there is none. Recordings
/// that broke off are not compared, because the judge reports those.
#[must_use]
pub fn compare(one: &Recording, other: &Recording) -> Option<Difference> {
    if one.broken.is_some() || other.broken.is_some() {
        return None;
    }
    for (tick, (left, right)) in (0..).zip(one.ticks.iter().zip(&other.ticks)) {
        let nodes = left.monitors.keys().chain(right.monitors.keys());
        for node in nodes {
            let (Some(left), Some(right)) = (left.monitors.get(node), right.monitors.get(node))
            else {
                let count = |instances: usize| format!("{instances} monitors");
                return Some(Difference {
                    tick: Some(tick),
                    node: Some(node.to_string()),
                    what: "the monitors are not the same",
                    one: count(left.monitors.len()),
                    other: count(right.monitors.len()),
                });
            };
            if let Some((what, one, other)) = instances(left, right) {
                return Some(Difference {
                    tick: Some(tick),
                    node: Some(node.to_string()),
                    what,
                    one,
                    other,
                });
            }
        }
    }
    let whole = |what, one: String, other: String| {
        (one != other).then_some(Difference {
            tick: None,
            node: None,
            what,
            one,
            other,
        })
    };
    let tick =
        |tick: Option<u64>| tick.map_or_else(|| "never".to_owned(), |tick| format!("poll {tick}"));
    whole(
        "the drills are not of one length",
        one.ticks.len().to_string(),
        other.ticks.len().to_string(),
    )
    .or_else(|| {
        whole(
            "healing began at different times",
            tick(one.healing_from),
            tick(other.healing_from),
        )
    })
    .or_else(|| {
        whole(
            "the world settled at different times",
            tick(one.settled_at),
            tick(other.settled_at),
        )
    })
    .or_else(|| {
        let missed = |recording: &Recording| recording.missed_moments.join(", ");
        whole("different moments never came", missed(one), missed(other))
    })
}

type Unlike = (&'static str, String, String);

fn instances(one: &MonitorTick, other: &MonitorTick) -> Option<Unlike> {
    if one.reads != other.reads {
        return Some(lists(
            "the reads differ",
            &one.reads.to_lines(),
            &other.reads.to_lines(),
        ));
    }
    if let Some(unlike) = calls(&one.calls, &other.calls) {
        return Some(unlike);
    }
    if one.polls != other.polls {
        return Some((
            "the number of polls differs",
            one.polls.to_string(),
            other.polls.to_string(),
        ));
    }
    if one.exits != other.exits {
        return Some((
            "the exits differ",
            format!("{:?}", one.exits),
            format!("{:?}", other.exits),
        ));
    }
    let state = |instance: &MonitorTick| {
        instance.state_file.as_ref().map_or_else(
            || "absent".to_owned(),
            |file| plain(&String::from_utf8_lossy(&file.bytes())),
        )
    };
    if one.state_file != other.state_file && state(one) != state(other) {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        return Some(lists(
            "the state files differ",
            &lines(state(one)),
            &lines(state(other)),
        ));
    }
    None
}

fn calls(one: &[Call], other: &[Call]) -> Option<Unlike> {
    let lines = |calls: &[Call]| -> Vec<String> { calls.iter().flat_map(call_lines).collect() };
    if one == other {
        return None;
    }
    let (one, other) = (lines(one), lines(other));
    (one != other).then(|| lists("the calls differ", &one, &other))
}

/// A call with every field of its events, one per line.
fn call_lines(call: &Call) -> Vec<String> {
    let observations = call.observations.iter().map(|reported| {
        let stamp = reported.stamped_ns.map(|ns| format!(" at {ns} ns"));
        let stamp = stamp.unwrap_or_default();
        let (node, fields) = (&reported.node, &reported.fields);
        plain(&format!("{reported}{stamp} node {node:?} {fields:?}"))
    });
    let call = format!("call {:?}: {}", call.fields, call.answer);
    std::iter::once(call).chain(observations).collect()
}

/// The text without the mount root.
fn plain(text: &str) -> String {
    text.replace("{root}", "")
}

/// The first line in which two lists differ.
fn lists(what: &'static str, one: &[String], other: &[String]) -> Unlike {
    let at = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count();
    let line = |lines: &[String]| {
        lines
            .get(at)
            .cloned()
            .unwrap_or_else(|| "nothing more".to_owned())
    };
    (what, line(one), line(other))
}

#[cfg(test)]
mod tests {
    use observe::Observation;

    use super::*;
    use observe::Tick;

    fn recording(change: impl FnOnce(&mut MonitorTick)) -> Recording {
        let mut instance = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        let observation = Observation {
            text: "{root}/sys gone".to_owned(),
            ..Observation::default()
        };
        instance.calls.push(Call {
            observations: vec![observation],
            fields: Vec::new(),
            accepted: true,
            answer: "accepted".to_owned(),
        });
        change(&mut instance);
        let mut tick = Tick::default();
        tick.insert("node-a".into(), instance.into());
        Recording {
            ticks: vec![tick],
            ..Recording::default()
        }
    }

    fn check(change: impl FnOnce(&mut MonitorTick), what: Option<&str>) {
        let difference = compare(&recording(|_| {}), &recording(change));
        assert_eq!(difference.map(|difference| difference.what), what);
    }

    #[test]
    fn what_both_arms_tell_alike_is_no_difference() {
        check(|_| {}, None);
        check(
            |instance| instance.calls[0].observations[0].text = "/sys gone".to_owned(),
            None,
        );
        check(|instance| instance.log.push("hello".to_owned()), None);
    }

    #[test]
    fn every_other_word_is_a_difference() {
        check(
            |instance| instance.polls = 2,
            Some("the number of polls differs"),
        );
        check(
            |instance| instance.calls[0].answer = "no answer".to_owned(),
            Some("the calls differ"),
        );
        check(
            |instance| instance.calls[0].observations[0].node = Some("x".to_owned()),
            Some("the calls differ"),
        );
        check(
            |instance| instance.calls[0].observations[0].stamped_ns = Some(1),
            Some("the calls differ"),
        );
        check(
            |instance| instance.reads = vec!["read a: 1".into()].into(),
            Some("the reads differ"),
        );
        check(
            |instance| instance.exits.push(observe::Exit::Code(0)),
            Some("the exits differ"),
        );
        check(
            |instance| instance.state_file = Some(b"x".as_slice().into()),
            Some("the state files differ"),
        );
    }

    /// In which tick, what, what the first has, what the second.
    fn difference(change: impl FnOnce(&mut Recording)) -> Option<(String, String, String)> {
        let one = recording(|_| {});
        let mut other = one.clone();
        change(&mut other);
        let difference = compare(&one, &other)?;
        Some((difference.to_string(), difference.one, difference.other))
    }

    #[track_caller]
    fn check_told(change: impl FnOnce(&mut Recording), rendered: [&str; 3]) {
        let [what, one, other] = rendered.map(str::to_owned);
        assert_eq!(difference(change), Some((what, one, other)));
    }

    fn instance(recording: &mut Recording) -> &mut MonitorTick {
        let monitors = std::sync::Arc::make_mut(&mut recording.ticks[0].monitors);
        let instance = monitors.values_mut().next().expect("a monitor runs there");
        std::sync::Arc::make_mut(instance)
    }

    #[test]
    fn the_first_line_that_differs_is_told_of_both() {
        check_told(
            |other| instance(other).reads = vec!["read a: 1".into()].into(),
            ["at poll 0: the reads differ", "nothing more", "read a: 1"],
        );
        check_told(
            |other| instance(other).calls[0].answer = "no answer".to_owned(),
            [
                "at poll 0: the calls differ",
                "call []: accepted",
                "call []: no answer",
            ],
        );
        check_told(
            |other| instance(other).calls[0].observations[0].stamped_ns = Some(7),
            [
                "at poll 0: the calls differ",
                "unknown \"/sys gone\" node None []",
                "unknown \"/sys gone\" at 7 ns node None []",
            ],
        );
        check_told(
            |other| instance(other).polls = 2,
            ["at poll 0: the number of polls differs", "1", "2"],
        );
        check_told(
            |other| instance(other).state_file = Some(b"a\nb".as_slice().into()),
            ["at poll 0: the state files differ", "absent", "a"],
        );
    }

    #[test]
    fn state_files_that_differ_by_the_mount_root_are_the_same() {
        let mut one =
            recording(|instance| instance.state_file = Some(b"{root}/sys".as_slice().into()));
        let other = recording(|instance| instance.state_file = Some(b"/sys".as_slice().into()));
        assert_eq!(compare(&one, &other), None);
        instance(&mut one).state_file = Some(b"{root}/dev".as_slice().into());
        let difference = compare(&one, &other).expect("they differ");
        assert_eq!((&*difference.one, &*difference.other), ("/dev", "/sys"));
    }

    #[test]
    fn what_differs_of_a_drill_as_a_whole_is_told_without_a_tick() {
        check_told(
            |other| other.ticks.push(Tick::default()),
            ["the drills are not of one length", "1", "2"],
        );
        check_told(
            |other| other.healing_from = Some(3),
            ["healing began at different times", "never", "poll 3"],
        );
        check_told(
            |other| other.settled_at = Some(4),
            ["the world settled at different times", "never", "poll 4"],
        );
        check_told(
            |other| other.missed_moments = vec!["a".to_owned(), "b".to_owned()],
            ["different moments never came", "", "a, b"],
        );
        check_told(
            |other| other.ticks[0].insert("node-b".into(), MonitorTick::default().into()),
            [
                "at poll 0: the monitors are not the same",
                "1 monitors",
                "2 monitors",
            ],
        );
    }

    #[test]
    fn a_recording_that_is_broken_off_is_compared_with_none() {
        let broken = |recording: &mut Recording| {
            recording.broken = Some(observe::Broken::StuckInKernel { tick: 0 });
            recording.ticks.clear();
        };
        assert_eq!(difference(broken), None);
        let mut one = recording(|_| {});
        broken(&mut one);
        assert_eq!(compare(&one, &recording(|_| {})), None);
    }
}
