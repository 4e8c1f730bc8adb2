//! Reading what is done to workloads: LNet's own faults, and MPIB's agents.

use std::collections::BTreeSet;

use lnet::{Deed, MsgStatus, NidPattern, Pace, RuleSpec};
use mpib::SupBandwidth;
use platforms::yaml::{Place, Value};

use super::{Line, Read, positive};
use crate::deed::{AgentSaid, DeedSaid};

impl Line<'_, '_> {
    /// The workload that the line is about; whether there is one of that name is found out when the
    /// story is told.
    pub(super) fn workload(&self) -> Read<String> {
        self.source.text(self.value, "a workload's name")
    }

    pub(super) fn lnet_fault(&self) -> Read<DeedSaid> {
        let source = self.source;
        let (kind, node) = self
            .fields
            .exactly_one(source, &["simulate", "drop", "delay"])?;
        let deed = match kind {
            "simulate" => {
                let nodes = source.one_or_more(node, "message statuses")?;
                let words: Vec<(&str, MsgStatus)> = MsgStatus::ALL
                    .into_iter()
                    .filter(|status| *status != MsgStatus::Ok)
                    .map(|status| (status.name(), status))
                    .collect();
                let status = |node| source.choice(node, "message status", &words);
                Deed::Simulate(nodes.iter().map(status).collect::<Result<_, _>>()?)
            }
            "drop" if source.truth(node)? => Deed::Drop,
            "drop" => return Err(source.wrong(node.place, "`drop: false` is no fault")),
            _ => Deed::Delay(positive(source, node)?),
        };
        Ok(DeedSaid::LnetFault {
            workload: self.workload()?,
            rule: Box::new(RuleSpec {
                source: NidPattern::Any,
                destination: NidPattern::Any,
                kinds: BTreeSet::new(),
                portal: None,
                via: None,
                pace: self.pace()?,
                deed,
            }),
        })
    }

    fn pace(&self) -> Read<Pace> {
        let source = self.source;
        match (self.fields.get("one_in"), self.fields.get("every")) {
            (None, None) => Ok(Pace::Every),
            (Some(number), None) => Ok(Pace::OneIn(source.small(number, 1)?)),
            (None, Some(span)) => {
                let ns = positive(source, span)?.as_ns();
                let secs = u32::try_from(ns / 1_000_000_000).unwrap_or(u32::MAX);
                if ns % 1_000_000_000 == 0 {
                    Ok(Pace::EverySecs(secs))
                } else {
                    Err(source.wrong(span.place, "LNet counts in whole seconds"))
                }
            }
            (Some(_), Some(span)) => {
                Err(source.wrong(span.place, "`one_in` and `every` in one line"))
            }
        }
    }

    pub(super) fn hint(&self) -> Read<DeedSaid> {
        let source = self.source;
        let share = self.need("share")?;
        let share = match &share.value {
            Value::Text(_) => source.choice(share, "share", &[("all", SupBandwidth::MAX)])?,
            _ => {
                let number = source.number(share, 0, u64::from(u32::MAX))?;
                SupBandwidth::new(u32::try_from(number).expect("it was just bounded"))
            }
        };
        Ok(DeedSaid::Agent {
            workload: self.workload()?,
            deed: AgentSaid::Hint {
                pair: self.pair()?,
                share,
            },
        })
    }

    pub(super) fn agent(&self) -> Read<DeedSaid> {
        let words = [("die", false), ("die_writing", true)];
        let writing = self.source.choice(self.need("to")?, "word", &words)?;
        let deed = if writing {
            AgentSaid::DiesWhileWriting { pair: self.pair()? }
        } else {
            AgentSaid::Dies
        };
        Ok(DeedSaid::Agent {
            workload: self.workload()?,
            deed,
        })
    }

    fn pair(&self) -> Read<(String, Place)> {
        let node = self.need("pair")?;
        Ok((self.source.text(node, "a node's name")?, node.place))
    }
}
