//! What led to a finding: what was done last before it, and a call that was not accepted. Start at [`lines`].

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
    // The sort is stable: a call is told after what was done before its poll.
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect()
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
