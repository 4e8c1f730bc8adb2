//! Golden traces: every event of a drill, with its texts, as a readable file.
//!
//! There is one for one platform of each scenario. It shows what was emitted; what should be
//! emitted is the scenario's `expect`, which no command writes. Equal drills give equal bytes.
//! Start at [`trace`].

use std::fmt::Write as _;

use observe::{Exit, MonitorTick, Recording};
use scenarios::Story;
use simfs::SimTime;

/// Where a golden trace differs from a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenDifference {
    /// The number of the first differing line, from 1.
    pub line: usize,
    /// The golden line.
    pub kept: String,
    /// The present line.
    pub now: String,
}

/// The trace of a drill: one line per event, quiet polls folded.
#[must_use]
pub fn trace(story: &Story, recording: &Recording) -> String {
    let mut text = format!("# {}\n# {}, in {}\n", story.title, story.name, story.world);
    let mut quiet: Option<(u64, u64)> = None;
    let mut state: Vec<(usize, bool)> = Vec::new();
    let several = story.monitors.len() > 1;
    for (number, tick) in (0..).zip(&recording.ticks) {
        let mut lines = String::new();
        if recording.healing_from == Some(number) {
            lines.push_str("  the world is healed\n");
        }
        if recording.settled_at == Some(number) && recording.settled_at != recording.healing_from {
            lines.push_str("  every port that should be is ACTIVE\n");
        }
        for (place, (node, instance)) in tick.monitors.iter().enumerate() {
            let before = lines.len();
            instance_lines(instance, &mut lines);
            let polled = instance.polls > 0;
            if state.get(place).map(|(_, polled)| *polled) != Some(polled) {
                if !polled {
                    lines.push_str("  no poll\n");
                } else if number > 0 {
                    lines.push_str("  polls again\n");
                }
                state.resize(place + 1, (place, polled));
                state[place] = (place, polled);
            }
            if several && lines.len() > before {
                lines.insert_str(before, &format!("  {node}\n"));
            }
        }
        if lines.is_empty() {
            quiet = Some((quiet.map_or(number, |(from, _)| from), number));
            continue;
        }
        render_quiet(&mut text, quiet.take());
        let _ = writeln!(
            text,
            "poll {number} ({})\n{}",
            SimTime::from_ns(tick.at_ns),
            lines.trim_end()
        );
    }
    render_quiet(&mut text, quiet);
    text
}

fn render_quiet(text: &mut String, quiet: Option<(u64, u64)>) {
    let _ = match quiet {
        None => Ok(()),
        Some((from, to)) if from == to => writeln!(text, "poll {from}: quiet"),
        Some((from, to)) => writeln!(text, "polls {from} to {to}: quiet"),
    };
}

fn instance_lines(instance: &MonitorTick, lines: &mut String) {
    for call in &instance.calls {
        let _ = writeln!(lines, "  call: {}", call.answer);
        for observation in &call.observations {
            let _ = writeln!(
                lines,
                "    {}",
                observation.to_string().replace("{root}", "")
            );
        }
    }
    for exit in &instance.exits {
        let _ = writeln!(lines, "  {}", ended(*exit));
    }
}

/// How a program ended, as a part of a line.
pub(crate) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(_) => exit.to_string(),
        Exit::Signal(_) => format!("ended by {exit}"),
    }
}

/// The first difference of `now` from the golden trace; `None` if there is none.
#[must_use]
pub fn golden_difference(kept: &str, now: &str) -> Option<GoldenDifference> {
    if kept == now {
        return None;
    }
    let same = kept
        .lines()
        .zip(now.lines())
        .take_while(|(kept, now)| kept == now)
        .count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    Some(GoldenDifference {
        line: same + 1,
        kept: line(kept),
        now: line(now),
    })
}

#[cfg(test)]
mod tests {
    use observe::{Call, Observation, Tick};

    use super::*;
    use crate::fits::tests::{Case, event, node_b, port};

    fn tick(at: u64, instances: &[(&str, MonitorTick)]) -> Tick {
        let mut tick = Tick {
            at_ns: at * 1_000_000_000,
            ..Tick::default()
        };
        for (node, instance) in instances {
            tick.insert((*node).into(), instance.clone().into());
        }
        tick
    }

    fn call() -> Call {
        let observation = Observation {
            text: "{root}/sys gone".to_owned(),
            ..event("InfiniBandStateCheck", port("mlx5_0", "1"))
        };
        Call {
            observations: vec![observation],
            fields: Vec::new(),
            accepted: true,
            answer: "accepted".to_owned(),
        }
    }

    #[test]
    fn a_trace_tells_what_was_said_and_folds_what_is_quiet() {
        let quiet = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        let says = MonitorTick {
            calls: vec![call()],
            ..quiet.clone()
        };
        let ends = |polls, exit| MonitorTick {
            polls,
            exits: vec![exit],
            ..MonitorTick::default()
        };
        let instances = [
            says,
            quiet.clone(),
            quiet.clone(),
            ends(0, Exit::Code(3)),
            MonitorTick::default(),
            quiet.clone(),
            quiet.clone(),
            quiet.clone(),
            ends(1, Exit::Signal(9)),
            quiet.clone(),
            quiet.clone(),
        ];
        let ticks = (0..)
            .zip(instances)
            .map(|(at, instance)| tick(at, &[("node-a", instance)]));
        let recording = Recording {
            ticks: ticks.collect(),
            healing_from: Some(6),
            settled_at: Some(7),
            ..Recording::default()
        };
        let story = Case::new().story;
        assert_eq!(
            trace(&story, &recording),
            "# an example
# port/example, in h100-oci
poll 0 (0s)
  call: accepted
    fatal NIC=mlx5_0 NICPort=1 InfiniBandStateCheck \"/sys gone\"
polls 1 to 2: quiet
poll 3 (3s)
  exit code 3
  no poll
poll 4: quiet
poll 5 (5s)
  polls again
poll 6 (6s)
  the world is healed
poll 7 (7s)
  every port that should be is ACTIVE
poll 8 (8s)
  ended by signal 9
polls 9 to 10: quiet
"
        );
    }

    /// A world that is healed in the tick in which it comes to rest says so once.
    #[test]
    fn a_trace_names_the_node_where_there_are_several() {
        let quiet = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        let says = MonitorTick {
            calls: vec![call()],
            ..quiet.clone()
        };
        let away = MonitorTick::default();
        let ticks = vec![
            tick(0, &[("node-a", says), ("node-b", away)]),
            tick(1, &[("node-a", quiet.clone()), ("node-b", quiet)]),
        ];
        let recording = Recording {
            ticks,
            healing_from: Some(1),
            settled_at: Some(1),
            ..Recording::default()
        };
        let mut story = Case::new().story;
        story.monitors.push(node_b());
        assert_eq!(
            trace(&story, &recording),
            "# an example
# port/example, in h100-oci
poll 0 (0s)
  node-a
  call: accepted
    fatal NIC=mlx5_0 NICPort=1 InfiniBandStateCheck \"/sys gone\"
  node-b
  no poll
poll 1 (1s)
  the world is healed
  node-b
  polls again
"
        );
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(golden_difference("a\nb\n", "a\nb\n"), None);
        let difference = golden_difference("a\nb\n", "a\nc\n").unwrap();
        assert_eq!(
            (
                difference.line,
                difference.kept.as_str(),
                difference.now.as_str()
            ),
            (2, "b", "c")
        );
        assert_eq!(
            golden_difference("a\n", "a\nb\n").unwrap().kept,
            "(the end)"
        );
    }
}
