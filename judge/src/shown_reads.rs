//! What a finding shows of the reads of a monitor.

use observe::{Pace, told_read};
use platforms::{CLASS_INFINIBAND, NodeName};
use reports::Read;

use crate::Judging;

impl<'a> Judging<'a> {
    /// That a program which looks when it likes read nothing of the node from a tick on until what it said in another one:
    /// what it says is older than what happened. `None` if it read something, said nothing, or its reads are not known.
    pub(super) fn unread(&self, node: &NodeName, from: u64, until: u64) -> Option<String> {
        if self.context.descriptor.pace() == Pace::Gate {
            return None;
        }
        let ticks = (0..).zip(&self.recording.ticks);
        let own = ticks.filter_map(|(at, tick)| Some((at, tick.monitors.get(node.as_str())?)));
        let own = own.filter(|(at, _)| *at <= until);
        let (mut last, mut said) = (None, None);
        for (at, instance) in own {
            last = Some(at).filter(|_| !instance.reads.is_empty()).or(last);
            let says = !instance.calls.is_empty() || !instance.scrapes.is_empty();
            said = Some(at).filter(|_| says).or(said);
        }
        let (last, said) = (
            last.filter(|last| *last < from)?,
            said.filter(|said| *said >= from)?,
        );
        Some(format!(
            "it read nothing from poll {from} on until what it said in poll {said}: its last read was in poll {last}"
        ))
    }

    /// The reads about these devices in a tick and its neighbours, with the listings of the class
    /// folder and all failed reads.
    pub(super) fn reads(&self, node: Option<&NodeName>, tick: u64, names: &[String]) -> Vec<Read> {
        let near = |at: &u64| at.abs_diff(tick) <= 1;
        let ticks = (0..).zip(&self.recording.ticks).filter(|(at, _)| near(at));
        let instances = ticks.flat_map(|(at, tick)| {
            tick.monitors
                .iter()
                .map(move |(of, instance)| (at, of, instance))
        });
        let lines = instances
            .filter(|(_, of, _)| node.is_none_or(|node| *node.as_str() == ***of))
            .flat_map(|(at, _, instance)| instance.reads.iter().map(move |line| (at, line)));
        let telling = |line: &str| {
            let anchor = format!("list {CLASS_INFINIBAND}:");
            let went_well = line
                .rsplit(' ')
                .next()
                .is_some_and(|outcome| outcome.parse::<u64>().is_ok());
            names.iter().any(|name| line.contains(name)) || line.starts_with(&anchor) || !went_well
        };
        lines
            .filter(|(_, line)| telling(line))
            .take(READS_MAX)
            .map(|(poll, line)| Read {
                poll,
                text: told_read(line),
            })
            .collect()
    }
}

/// The largest number of reads that are shown with one failure. Chosen: a screenful.
pub(super) const READS_MAX: usize = 40;
