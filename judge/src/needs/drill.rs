//! What is read of a drill before its faults are judged by needs. Start at [`Drill`].

use observe::{Needs, Recording};
use platforms::NodeName;

use super::{faults::Faults, verdicts::Verdicts};
use crate::{
    alarms::subject::Bearers,
    clock::is_paced,
    episodes::Episodes,
    fits::JudgeContext,
    intervals::{Interval, intervals, true_intervals},
    readings::Readings,
};

/// A drill, and what is needed in it.
pub(super) struct Drill<'d> {
    context: JudgeContext<'d>,
    recording: &'d Recording,
    needs: &'d Needs,
    readings: Readings<'d>,
    episodes: Episodes,
}

impl<'d> Drill<'d> {
    /// That of a recording.
    pub(super) fn of(
        context: JudgeContext<'d>,
        recording: &'d Recording,
        needs: &'d Needs,
    ) -> Self {
        Self {
            readings: Readings::of(context, recording.healing_from),
            episodes: Episodes::of(&context),
            context,
            recording,
            needs,
        }
    }

    /// The faults that are judged: as the monitor's polls could read them. Those of a program that is run or asked at
    /// its own interval are the true ones, because a site's needs do not depend on it.
    pub(super) fn judged(&self) -> Vec<Interval> {
        if is_paced(&self.context) {
            return self.all();
        }
        intervals(&self.context, &self.readings, self.recording)
    }

    /// The true faults, whether a poll reads them or not.
    pub(super) fn all(&self) -> Vec<Interval> {
        true_intervals(&self.context, &self.readings, self.recording)
    }

    /// The names of a node's functions.
    pub(super) fn bearers(&self, node: &NodeName) -> Bearers {
        Bearers::of(&self.readings, self.recording, node)
    }

    /// Those of a node.
    pub(super) fn faults(&self, node: &NodeName, of: &[Interval], bearers: &Bearers) -> Faults {
        let of_node = of.iter().filter(|interval| interval.node == *node);
        let (needs, episodes) = (self.needs, &self.episodes);
        Faults::of(
            of_node.cloned(),
            needs,
            (episodes, bearers),
            &self.context,
            (node, self.recording),
        )
    }

    /// What is so of the faults and alarms of a node.
    pub(super) fn verdicts<'n>(
        &'n self,
        node: &'n NodeName,
        faults: &'n Faults,
        bearers: &'n Bearers,
    ) -> Verdicts<'n> {
        let of_node = (node, faults, &self.episodes);
        Verdicts::of(self.context, self.recording, self.needs, of_node, bearers)
    }

    /// What makes faults.
    pub(super) fn episodes(&self) -> &Episodes {
        &self.episodes
    }
}
