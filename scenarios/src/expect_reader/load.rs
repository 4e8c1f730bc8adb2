//! Reading what is expected of workloads: LNet's interfaces, fates, verdicts.

use std::ops::RangeInclusive;

use platforms::yaml::Node;
use simfs::SimTime;
use workloads::{Cause, WorkloadOutcome};

use super::{Line, Read};
use crate::duration;
use crate::expect::{ExpectSaid, LnetSaid};
use crate::handle::Bound;
use crate::story::{Verdict, WorkloadIs};

impl Line<'_, '_> {
    pub(super) fn lnet(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let (whose, of) = self.fields.exactly_one(source, &["ni", "peer_ni"])?;
        let peers = whose == "peer_ni";
        let said = LnetSaid {
            workload: source.text(self.value, "a workload's name")?,
            of: self.context.subjects(of)?,
            peers,
            up: self.fields.maybe("status", |node| {
                source.choice(node, "status", &[("up", true), ("down", false)])
            })?,
            fatal: self
                .fields
                .maybe("fatal_error", |node| Ok(source.number(node, 0, 1)? == 1))?,
            health: self.bound("health")?,
        };
        if peers && said.fatal.is_some() {
            return Err(source
                .wrong(
                    self.fields.place_of("fatal_error"),
                    "nobody knows the fatal flag of a peer's interface",
                )
                .hint("`status` is what the peer says of it"));
        }
        if said.up.is_none() && said.fatal.is_none() && said.health.is_none() {
            return Err(source
                .wrong(self.fields.place, "`lnet` expects nothing of the interface")
                .hint("write `status`, `fatal_error`, `health`, or several of them"));
        }
        Ok(ExpectSaid::Lnet(said))
    }

    pub(super) fn workload(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let words = WorkloadOutcome::ALL.map(|fate| (fate.word(), fate));
        let causes = Cause::ALL.map(|cause| (cause.word(), cause));
        let is = WorkloadIs {
            workload: source.text(self.value, "a workload's name")?,
            fate: self
                .fields
                .maybe("fate", |node| source.choice(node, "fate", &words))?,
            cause: self
                .fields
                .maybe("cause", |node| source.choice(node, "cause", &causes))?,
            failed: self.fields.maybe("between", |node| self.instants(node))?,
            errors: self.bound("ulp_errors")?,
            retries: self.bound("retries")?,
            done: self.bound("done")?,
        };
        let fails = is.cause.is_some() || is.failed.is_some();
        if fails && is.fate != Some(WorkloadOutcome::Failed) {
            return Err(source
                .wrong(
                    self.fields.place,
                    "only what failed has a cause and an instant",
                )
                .hint("write `fate: failed`"));
        }
        let figures = [&is.errors, &is.retries, &is.done];
        if is.fate.is_none() && figures.iter().all(|figure| figure.is_none()) {
            return Err(source
                .wrong(self.fields.place, "`workload` expects nothing of it")
                .hint("write `fate: survived`, or `ulp_errors: 0`"));
        }
        Ok(ExpectSaid::Workload(is))
    }

    pub(super) fn verdict(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let words = Verdict::ALL.map(|verdict| (verdict.word(), verdict));
        let fields = source.open_map(self.value, "workloads and verdicts")?;
        let mut of = Vec::new();
        for (key, node) in fields.pairs {
            let verdict = source.choice(node, "verdict", &words)?;
            of.push((key.name.clone(), key.place, verdict));
        }
        if of.is_empty() {
            return Err(source.wrong(self.value.place, "a verdict about nothing"));
        }
        let lead = self.fields.maybe("lead", |node| self.lead(node))?;
        if let Some((_, _, verdict)) = of
            .iter()
            .find(|(.., verdict)| lead.is_some() && *verdict != Verdict::Agreement)
        {
            let what = format!("`lead` with `{}`", verdict.word());
            return Err(source.wrong(self.fields.place_of("lead"), what).hint(
                "only a fatal word about a workload that failed came before or after its failure",
            ));
        }
        Ok(ExpectSaid::Verdict { of, lead })
    }

    /// Two times with signs, in nanoseconds.
    fn lead(&self, node: &Node) -> Read<(i64, i64)> {
        let time = |node: &Node| {
            let text = self.source.text(node, "a time")?;
            duration::parse_signed(&text).ok_or_else(|| {
                self.source
                    .wrong(node.place, format!("`{text}` is no time"))
                    .hint("write `29s`, or `-1s` for after the failure")
            })
        };
        match self.source.list(node, "a list of two times")? {
            [from, to] => {
                let (from, to) = (time(from)?, time(to)?);
                if from <= to {
                    Ok((from, to))
                } else {
                    Err(self
                        .source
                        .wrong(node.place, "the second time is before the first"))
                }
            }
            _ => Err(self.source.wrong(node.place, "`lead` takes two times")),
        }
    }

    /// The two times of `between`, which `window` has checked.
    fn instants(&self, node: &Node) -> Read<(SimTime, SimTime)> {
        match self.source.list(node, "a list of two times")? {
            [from, to] => Ok((self.source.time(from)?, self.source.time(to)?)),
            _ => Err(self.source.wrong(node.place, "`between` takes two times")),
        }
    }

    pub(super) fn bound(&self, name: &str) -> Read<Option<RangeInclusive<u64>>> {
        self.fields.maybe(name, |node| {
            let Bound { least, most } = Bound::read(self.source, node)?;
            Ok(least..=most)
        })
    }
}
