//! What led to a finding: what was done last before it, a call that was not accepted, and a connector that nobody has
//! connected to. Start at [`lines`].

use observe::Recording;
use platforms::NodeName;
use scenarios::Story;

/// The largest number of steps that are told: a fault often needs two, such as a connector that refuses and a port that
/// goes down. Chosen.
const STEPS_MAX: usize = 2;

/// The last steps that had been done by the end of a tick, and the last call until then that was not accepted, in the
/// order of time.
pub(crate) fn lines(
    story: &Story,
    recording: &Recording,
    node: Option<&NodeName>,
    tick: u64,
) -> Vec<String> {
    let given = story.given.iter().map(|step| (0, "given".to_owned(), step));
    let steps = story.steps.iter();
    let steps = steps.map(|step| (story.ticks.first_from(step.at), step.at.to_string(), step));
    let done = given
        .chain(steps)
        .filter(|(at, _, step)| !step.actions.is_empty() && *at <= tick);
    let mut lines: Vec<(u64, String)> = done
        .map(|(at, when, step)| (at, format!("{when}: {}", step.text)))
        .collect();
    lines.drain(..lines.len().saturating_sub(STEPS_MAX));
    if let Some(from) = recording.healing_from.filter(|from| *from <= tick) {
        lines.push((
            from,
            format!("{}: everything is mended", story.ticks.at(from)),
        ));
    }
    lines.extend(refused(recording, node, tick));
    lines.extend(unreached(recording, node, tick));
    // The sort is stable: a call is told after what was done before its poll.
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// That the connector listens again by the end of a tick and nobody has connected to it, from the poll on since which it is
/// so; of any node if none is given.
fn unreached(recording: &Recording, node: Option<&NodeName>, tick: u64) -> Option<(u64, String)> {
    let is_so = |tick: u64| {
        let mut all = recording.unreached.iter();
        all.any(|(of, at)| *at == tick && node.is_none_or(|node| of == node.as_str()))
    };
    let from = (0..=tick).rev().take_while(|tick| is_so(*tick)).last()?;
    let line = format!(
        "poll {from}: the connector listens again, and the monitor has not connected to it; how long its client waits after \
         a refused connection is stated by `real_time.backoff`"
    );
    Some((from, line))
}

/// The last call until a tick that was not accepted, with its poll and answer; of all nodes if none is given.
fn refused(recording: &Recording, node: Option<&NodeName>, until: u64) -> Option<(u64, String)> {
    (0..=until)
        .rev()
        .filter_map(|poll| Some((poll, recording.ticks.get(usize::try_from(poll).ok()?)?)))
        .find_map(|(poll, tick)| {
            let monitors = tick.monitors.iter();
            let of_node =
                monitors.filter(|(of, _)| node.is_none_or(|node| ***of == *node.as_str()));
            let call = of_node
                .flat_map(|(_, monitor)| &monitor.calls)
                .rfind(|call| !call.accepted)?;
            let events = reports::counted(call.observations.len() as u64, "event");
            let answer = &call.answer;
            let line = format!("poll {poll}: a call of {events} was not accepted: {answer}");
            Some((poll, line))
        })
}
