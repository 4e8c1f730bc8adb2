//! One drill in full: the story, its events, their consequences, and the reads.

use std::fmt::Write as _;

use scenarios::{Heal, Story};

use judge::{Consequences, trace};
use observe::{Recording, told_read};
use reports::{counted, one_line, quoted};

/// The page of a drill: timeline, events, consequences, reads.
#[must_use]
pub(crate) fn drill_page(story: &Story, recording: &Recording) -> String {
    let mut page = format!(
        "{}\n{} on {}\n{}\n",
        one_line(&story.title),
        story.name,
        story.world,
        quoted(&story.why)
    );
    if !story.covers.is_empty() {
        add(
            &mut page,
            format_args!("covers: {}", story.covers.join(", ")),
        );
    }
    page += "\nTimeline\n";
    let mut lines: Vec<(simfs::SimTime, usize, String)> = Vec::new();
    for step in story.given.iter().chain(&story.steps) {
        let when = if story.given.iter().any(|given| given.place == step.place) {
            "given".to_owned()
        } else {
            step.at.to_string()
        };
        lines.push((
            step.at,
            0,
            format!("{when:>9}  do      {}", quoted(&step.text)),
        ));
    }
    for expectation in &story.expectations {
        let at = story.ticks.at(expectation.window.from);
        let polls = match (expectation.window.from, expectation.window.to) {
            (from, to) if from == to => format!("poll {from}"),
            (from, to) => format!("polls {from} to {to}"),
        };
        lines.push((
            at,
            1,
            format!("{at:>9}  expect  {}  ({polls})", quoted(&expectation.text)),
        ));
    }
    lines.sort_by_key(|(at, kind, _)| (*at, *kind));
    for (_, _, line) in lines {
        add(&mut page, format_args!("{line}"));
    }
    match &story.heal {
        Heal::Within { polls, every } => {
            let pace = match every {
                1 => String::new(),
                every => format!(" of {every} ticks"),
            };
            add(
                &mut page,
                format_args!(
                    "{:>9}  heal    everything, and nothing outstanding {}{pace} later",
                    story.until,
                    counted(u64::from(*polls), "poll")
                ),
            );
        }
        Heal::Never { because } => {
            add(
                &mut page,
                format_args!("{:>9}  heal    never: {}", story.until, quoted(because)),
            );
        }
    }
    page += "\nEvents\n";
    for line in trace(story, recording)
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        add(&mut page, format_args!("  {}", one_line(line)));
    }
    page += "\nConsequences\n";
    for line in Consequences::of(story, recording)
        .ticks
        .iter()
        .flat_map(|tick| tick.lines())
    {
        add(&mut page, format_args!("{}", one_line(&line)));
    }
    page += "\nReads\n";
    page += &reads(recording);
    page
}

/// The reads of the first poll, and the differences of each later poll from the one before.
fn reads(recording: &Recording) -> String {
    let mut text = String::new();
    let mut before = Vec::new();
    for (number, tick) in recording.ticks.iter().enumerate() {
        let now: Vec<String> = tick
            .monitors
            .iter()
            .flat_map(|(node, instance)| {
                let on = if tick.monitors.len() > 1 {
                    format!("{node}: ")
                } else {
                    String::new()
                };
                instance
                    .reads
                    .iter()
                    .map(move |read| one_line(&format!("{on}{}", told_read(read))))
                    .collect::<Vec<_>>()
            })
            .collect();
        if now == before || now.is_empty() {
            continue;
        }
        if before.is_empty() {
            add(
                &mut text,
                format_args!("  poll {number}: {} reads", now.len()),
            );
            now.iter()
                .for_each(|read| add(&mut text, format_args!("    {read}")));
        } else {
            add(
                &mut text,
                format_args!("  poll {number}, what differs from the poll before"),
            );
            for read in before.iter().filter(|read| !now.contains(read)) {
                add(&mut text, format_args!("    - {read}"));
            }
            for read in now.iter().filter(|read| !before.contains(read)) {
                add(&mut text, format_args!("    + {read}"));
            }
        }
        before = now;
    }
    text
}

fn add(page: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(page, "{line}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::{MonitorTick, Tick};

    fn tick(reads: &[&str]) -> Tick {
        let reads: Vec<_> = reads.iter().map(|read| (*read).into()).collect();
        let instance = MonitorTick {
            polls: 1,
            reads: reads.into(),
            ..MonitorTick::default()
        };
        Tick {
            monitors: std::sync::Arc::new(std::iter::once(("n".into(), instance.into())).collect()),
            ..Tick::default()
        }
    }

    #[test]
    fn only_what_differs_from_the_poll_before_is_shown() {
        let recording = Recording {
            ticks: vec![
                tick(&["a 1", "b 1"]),
                tick(&["a 1", "b 1"]),
                tick(&["a 1", "b 2"]),
            ],
            ..Recording::default()
        };
        assert_eq!(
            reads(&recording),
            "  poll 0: 2 reads\n    a 1\n    b 1\n  poll 2, what differs from the poll before\n    - b 1\n    + b 2\n"
        );
    }

    #[test]
    fn the_page_of_a_drill_tells_what_followed() {
        let text = "scenario: a port goes down and comes back\nwhy: an example\nchecks: all\n\
                    let: { victim: { role: compute, nth: 1 } }\ntimeline:\n\
                    \x20 - { at: 5s, do: [ { disable: victim } ], expect: [ { fatal: victim } ] }\n\
                    \x20 - { at: 9s, do: [ { mend: victim } ] }\nuntil: 12s\n";
        let scenario = scenarios::read("cluster/example.yaml", text).unwrap();
        let platforms = platforms::Platforms::shipped();
        let node = platforms::NodeName::from("node-a");
        let platform = platforms.get("h100-oci").unwrap();
        let story = scenario.in_world(&node, platform).unwrap();
        let reference = harness::descriptors::shipped("reference").unwrap();
        let mut trees = director::Trees::default();
        let played = memory::play_in_memory(&story, &reference, None, &mut trees);
        let page = drill_page(&story, &played.recording);
        let (_, rest) = page.split_once("\nConsequences\n").expect("they are told");
        let (rendered, _) = rest.split_once("\nReads\n").expect("the reads follow");
        let wanted = [
            "       5s  condition  node-a EthernetStateCheck stands",
            "       5s  cordon     node-a by NIC health monitor",
            "       5s  condition  node-a EthernetDegradationCheck stands",
            "      10s  condition  node-a EthernetStateCheck is cleared",
        ];
        assert_eq!(rendered.lines().take(4).collect::<Vec<_>>(), wanted);
    }
}
