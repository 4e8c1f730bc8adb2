//! When a monitor's calls get through, as far as the log and the recording tell. Start at [`Delivery`].

use std::collections::BTreeMap;

use director::{Outage, Socket};
use observe::Recording;
use platforms::NodeName;

use crate::fits::JudgeContext;

/// The ticks in which calls of a node do not get through.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// Whether a node's calls get through, tick by tick.
    gets_through: BTreeMap<NodeName, Vec<bool>>,
    /// The ticks in which a monitor may not know what became of its calls: it ended, or got no answer.
    unsure: BTreeMap<NodeName, Vec<bool>>,
}

impl Delivery {
    /// That of a drill.
    pub(super) fn of(context: &JudgeContext<'_>, recording: &Recording) -> Self {
        let mut all = Self::default();
        for node in &context.story.monitors {
            let outages = context.truth.log.outages.iter();
            let outages =
                outages.filter(|outage| outage.node == *node && outage.socket != Socket::Listening);
            let unheard: Vec<&Outage> = outages.collect();
            let (mut through, mut unsure) = (Vec::new(), Vec::new());
            for (at, tick) in (0..).zip(&recording.ticks) {
                let is_unheard = unheard.iter().any(|outage| outage.lasts_in(at));
                let heals = recording.healing_from.is_some_and(|from| at >= from);
                let monitor = tick.monitors.get(node.as_str());
                let calls = monitor.into_iter().flat_map(|monitor| &monitor.calls);
                let is_refused = calls.clone().any(|call| !call.accepted);
                let listens = heals || !is_unheard;
                through.push(listens && !is_refused);
                let is_unanswered = calls
                    .clone()
                    .any(|call| call.accepted && &*call.answer != "accepted");
                let ended = monitor.is_some_and(|monitor| !monitor.exits.is_empty());
                unsure.push(is_unanswered || ended);
            }
            all.gets_through.insert(node.clone(), through);
            all.unsure.insert(node.clone(), unsure);
        }
        all
    }

    /// Whether a node's calls get through in a tick.
    pub(super) fn gets_through(&self, node: &NodeName, tick: u64) -> bool {
        at(&self.gets_through, node, tick).unwrap_or(true)
    }

    /// The first tick from this one on in which a node's calls get through.
    pub(super) fn next(&self, node: &NodeName, tick: u64) -> u64 {
        let mut ticks = tick..;
        ticks
            .find(|tick| self.gets_through(node, *tick))
            .unwrap_or(tick)
    }

    /// Whether a monitor may say again what it said in these ticks.
    pub(super) fn may_repeat(&self, node: &NodeName, from: u64, to: u64) -> bool {
        (from..=to).any(|tick| at(&self.unsure, node, tick).unwrap_or(false))
    }
}

fn at(of: &BTreeMap<NodeName, Vec<bool>>, node: &NodeName, tick: u64) -> Option<bool> {
    let ticks = of.get(node)?;
    ticks.get(usize::try_from(tick).ok()?).copied()
}
