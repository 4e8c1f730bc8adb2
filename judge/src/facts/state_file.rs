//! The state file at the end of a window.

use observe::{Recording, Vocabulary};
use platforms::NodeName;
use reports::CauseKind;
use scenarios::{StateFileIs, What};

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject, Change, in_window},
    reasons,
};

/// What no JSON member equals.
const OTHER: &str = "\"\\u0001\"";

/// It is so.
pub(super) struct StateFile<'w>(pub(super) &'w StateFileIs);

impl Fact for StateFile<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("state file", CauseKind::StateFile)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        let is_of_content = matches!(self.0, StateFileIs::Valid | StateFileIs::Holds { .. });
        let is_own = scene.context.descriptor.state_file == Vocabulary::Own;
        (is_of_content && is_own).then_some(reasons::STATE_FILE)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let window = scene.expectation.window;
        state_file(self.0, scene.node, window.from, window.to, scene.recording)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        vec![other_file(subject, self.0)]
    }
}

fn state_file(
    is: &StateFileIs,
    node: &NodeName,
    from: u64,
    to: u64,
    recording: &Recording,
) -> Outcome {
    let at = |tick: u64| {
        let tick = recording.ticks.get(usize::try_from(tick).ok()?)?;
        let file = tick.monitors.get(node.as_str())?.state_file.as_ref();
        file.map(|file| file.bytes())
    };
    let last = (recording.ticks.len() as u64).saturating_sub(1);
    let end = at(to.min(last));
    let end = end.as_deref();
    let rendered = || {
        vec![end.map_or_else(
            || "no state file".to_owned(),
            |bytes| format!("the state file is {}", String::from_utf8_lossy(bytes)),
        )]
    };
    match is {
        StateFileIs::Unchanged => {
            let start = from.checked_sub(1).and_then(at);
            let start = start.as_deref();
            check(
                start == end,
                || "an unchanged state file".to_owned(),
                || {
                    let before = start.map_or_else(|| "absent".into(), String::from_utf8_lossy);
                    let mut came = rendered();
                    came.push(format!("before: {before}"));
                    came
                },
            )
        }
        StateFileIs::Absent => check(end.is_none(), || "no state file".to_owned(), rendered),
        StateFileIs::Valid => {
            let valid =
                end.is_some_and(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).is_ok());
            check(valid, || "a state file that is JSON".to_owned(), rendered)
        }
        StateFileIs::Holds { member, equals } => {
            let json =
                end.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).ok());
            let value = json.as_ref().and_then(|json| member_of(json, member));
            let wanted = serde_json::from_str::<serde_json::Value>(equals).ok();
            check(
                value.is_some() && value == wanted.as_ref(),
                || format!("a state file with `{member}` equal to {equals}"),
                rendered,
            )
        }
    }
}

/// A member of a JSON value by its dotted path; numbers index lists.
fn member_of<'a>(json: &'a serde_json::Value, path: &str) -> Option<&'a serde_json::Value> {
    path.split('.').try_fold(json, |at, part| match at {
        serde_json::Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        at => at.get(part),
    })
}

fn other_file(subject: &AlteredSubject<'_>, is: &StateFileIs) -> (&'static str, Change) {
    let window = subject.expectation.window;
    let end = window.to.min(subject.last());
    match is {
        StateFileIs::Unchanged if window.from >= end => (
            "another file",
            Change::Equivalent("its time is after the end of the drill"),
        ),
        StateFileIs::Unchanged => (
            "another file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"\x01").into())
            }),
        ),
        StateFileIs::Absent => (
            "a file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"{}").into())
            }),
        ),
        StateFileIs::Valid => (
            "an invalid file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"\x01").into())
            }),
        ),
        StateFileIs::Holds { member, .. } => (
            "another value",
            subject.line(What::StateFile(StateFileIs::Holds {
                member: member.clone(),
                equals: OTHER.to_owned(),
            })),
        ),
    }
}
