//! Moments that never came: the monitor did not make the operation that a step of the story waits for.
//!
//! Which files a monitor reads is its own decision. A moment at a read of a file that it reads in no poll is no fault of it,
//! and the drill is not judged, unless it promises something that this file alone tells. Start at [`Judging::unmade_read`].

use observe::promises::{Kind, Named, Row};
use reports::{Cause, CauseKind, FindingKind};
use scenarios::{FileMoment, FileOp, FileRef, Step};

use crate::{Judging, reasons};

/// A read of the monitor that a step waits for, and that it makes in no poll.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnmadeRead {
    /// `read` or `list`.
    op: &'static str,
    /// The file below its port's or device's folder, or its path.
    file: String,
    /// A kind about which something is promised that only this file tells.
    promised: Option<Kind>,
}

impl Judging<'_> {
    /// Why nothing of the drill is judged: a step of it waits for a read that the monitor makes in no poll, and does not
    /// promise to make. `None` if no step does.
    pub(crate) fn unmade_read(&self) -> Option<String> {
        let missed = self.recording.missed_moments.iter();
        let unmade = missed.filter_map(|missed| self.unmade(missed));
        let mut unmade = unmade.filter(|read| read.promised.is_none());
        let UnmadeRead { op, file, .. } = unmade.next()?;
        Some(reasons::unmade_read(op, &file))
    }

    /// Tells each moment that never came.
    pub(crate) fn missed_moments(&mut self) {
        for missed in &self.recording.missed_moments {
            let cause = Cause::of(CauseKind::Moment);
            let mut finding = self.finding(FindingKind::MissedMoment, cause, None, None);
            let waited = format!("the operation that the moment waits for: {missed}");
            finding.expected.push(waited);
            if let Some(UnmadeRead { op, file, promised }) = self.unmade(missed) {
                finding
                    .came
                    .push(format!("no poll of the drill has a {op} of `{file}`"));
                let row = promised.map(|kind| {
                    format!(
                        "the row `{kind}` of its promises is about what only this file tells; without the row the drill is not judged"
                    )
                });
                finding.came.extend(row);
            }
            self.findings.push(finding);
        }
    }

    /// The read that a step whose moment was missed waits for, if the monitor makes it in no poll.
    fn unmade(&self, missed: &str) -> Option<UnmadeRead> {
        let is_it = |step: &&Step| format!("{}: {}", step.place, step.text) == missed;
        let moment = self.story.steps.iter().find(is_it)?.moment.as_ref()?;
        let mut files = moment.after.iter().chain(&moment.before);
        let unmade = files.find_map(|moment| {
            let (op, file, ending) = awaited(moment)?;
            self.makes_none(op, &ending).then_some((op, file))
        });
        unmade.map(|(op, file)| {
            let promises = &self.context.descriptor.promises;
            let told = told_by(&file).iter().map(|kind| Kind::from(*kind));
            let mut told = told.filter(|kind| {
                let row = promises.row(kind, None);
                row.is_some_and(|row| row != Row::Silent)
            });
            let promised = told.next();
            UnmadeRead { op, file, promised }
        })
    }

    /// Whether the monitor's reads are known, and none is of a file whose path ends like this.
    fn makes_none(&self, op: &str, ending: &str) -> bool {
        let mut reads = self.recording.reads().peekable();
        let is_it = |line: &str| {
            let read = line.split_once(' ').filter(|(made, _)| *made == op);
            let path = read.and_then(|(_, rest)| rest.rsplit_once(": "));
            path.is_some_and(|(path, _)| path.ends_with(ending))
        };
        reads.peek().is_some() && !reads.any(is_it)
    }
}

/// The word of a read that a moment waits for, its file, and how the file's path ends; `None` for what no monitor is free
/// not to do, such as writing its state file, and for patterns.
fn awaited(moment: &FileMoment) -> Option<(&'static str, String, String)> {
    let op = match moment.op {
        FileOp::Read => "read",
        FileOp::List => "list",
        FileOp::Write | FileOp::Create | FileOp::Fsync | FileOp::Rename | FileOp::Unlink => {
            return None;
        }
    };
    let (file, ending) = match &moment.file {
        FileRef::Port(slot, below) => (below, format!("/ports/{}/{below}", slot.port)),
        FileRef::Device(_, _, below) if !below.is_empty() => (below, format!("/{below}")),
        FileRef::Path(path) if !path.contains('*') => (path, path.clone()),
        FileRef::Device(..) | FileRef::Path(_) | FileRef::StateFile => return None,
    };
    Some((op, file.clone(), ending))
}

/// The kinds that only this file of a port, device or class tells: who promises something about one reads it. `file` is its
/// name, or a path that ends with it.
#[must_use]
pub fn told_by(file: &str) -> &'static [Named] {
    match file.rsplit('/').next() {
        Some("state") => &[Named::Down, Named::Polling, Named::Init, Named::Armed],
        Some("phys_state") => &[Named::LinkErrorRecovery, Named::OddState],
        Some("link_layer") => &[Named::MovedLayer],
        Some("rate") => &[Named::Slow],
        Some("ports") => &[Named::GonePort],
        Some("infiniband") => &[Named::GoneDevice],
        _ => &[],
    }
}
