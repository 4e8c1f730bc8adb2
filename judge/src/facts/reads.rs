//! A file is read so often.

use observe::{Messages, MonitorTick};
use platforms::{CLASS_INFINIBAND, NodeName, PciAddress};
use reports::CauseKind;
use scenarios::{FileRef, Times, What};
use simfs::Pattern;

use director::STATE_FILE;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject, Change},
    fits::JudgeContext,
    reasons,
};

/// This file, so often.
pub(super) struct Reads<'w>(pub(super) &'w FileRef, pub(super) Times);

impl Fact for Reads<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("reads", CauseKind::Reads)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        let is_own = scene.context.descriptor.texts.events == Messages::Own;
        is_own.then_some(reasons::READS)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let Self(file, times) = self;
        let count = count_reads(file, &scene.context, scene.node, scene.instances());
        let (least, most) = (times.at_least as usize, times.at_most as usize);
        check(
            (least..=most).contains(&count),
            || format!("{least} to {most} reads of that file"),
            || vec![format!("{count} reads")],
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let Self(file, times) = self;
        let change = match other_times(*times) {
            // A bound on what never happens; `at most 0` says that it must not.
            Some(_) if times.at_least == 0 && times.at_most > 0 && is_unread(subject, file) => {
                Change::Equivalent("nobody reads this file, and some reads are allowed")
            }
            Some(times) => subject.line(What::Reads {
                file: (*file).clone(),
                times,
            }),
            None => Change::Equivalent("it allows any number"),
        };
        vec![("another count", change)]
    }
}

/// How often a file is read in these ticks.
fn count_reads<'a>(
    file: &FileRef,
    context: &JudgeContext<'_>,
    node: &NodeName,
    instances: impl Iterator<Item = (u64, &'a MonitorTick)>,
) -> usize {
    let mut count = 0;
    for (tick, instance) in instances {
        let patterns = patterns(file, context, node, tick);
        count += instance
            .reads
            .iter()
            .filter(|line| {
                let path = line
                    .split(' ')
                    .nth(1)
                    .unwrap_or_default()
                    .trim_end_matches(':');
                patterns.iter().any(|pattern| pattern.matches(path))
            })
            .count();
    }
    count
}

/// The paths that a file has in a tick's trace.
fn patterns(
    file: &FileRef,
    context: &JudgeContext<'_>,
    node: &NodeName,
    tick: u64,
) -> Vec<Pattern> {
    let truth = usize::try_from(tick)
        .ok()
        .and_then(|tick| context.truth.ticks.get(tick)?.nodes.get(node));
    let named = |pci: &PciAddress, below: String| -> Vec<String> {
        let views = truth
            .into_iter()
            .flat_map(|truth| [&truth.views, &truth.after]);
        let names = views.filter_map(|views| Some(views.0.get(pci)?.name.clone()));
        let mut paths: Vec<String> = names
            .map(|name| {
                format!("{CLASS_INFINIBAND}/{name}/{below}")
                    .trim_end_matches('/')
                    .to_owned()
            })
            .collect();
        paths.dedup();
        paths
    };
    let paths = match file {
        FileRef::Path(path) => vec![path.clone()],
        FileRef::Port(slot, below) => named(&slot.pci, format!("ports/{}/{below}", slot.port)),
        FileRef::Device(_, pci, below) => named(pci, below.clone()),
        FileRef::StateFile => vec![format!("{STATE_FILE}*")],
    };
    paths.iter().map(|path| Pattern::new(path)).collect()
}

/// Whether no monitor reads the file in the whole drill.
fn is_unread(subject: &AlteredSubject<'_>, file: &FileRef) -> bool {
    let context = &subject.context;
    context.story.monitors.iter().all(|node| {
        let ticks = (0..).zip(&subject.recording.ticks);
        let own = ticks.filter_map(|(at, tick)| Some((at, &**tick.monitors.get(node.as_str())?)));
        count_reads(file, context, node, own) == 0
    })
}

/// A count that these bounds exclude.
fn other_times(times: Times) -> Option<Times> {
    let exactly = |count| Times {
        at_least: count,
        at_most: count,
    };
    let more = times.at_most.checked_add(1);
    more.or_else(|| times.at_least.checked_sub(1)).map(exactly)
}
