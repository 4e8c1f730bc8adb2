//! When the connector does not accept, as far as the steps of a story tell.
//!
//! A drill decides it call by call; this is known before it is played. Start at [`Outages::of`].

use std::{collections::BTreeMap, time::Duration};

use director::{ConnectorScript, Socket};
use observe::RealTime;
use platforms::NodeName;
use scenarios::{MonitorAction, Step, StepAction, Story, Ticks};
use simfs::SimTime;

/// The outages of a story's connectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outages {
    /// The largest number of polls of one node in which a call is not accepted. Each refused call counts as a poll,
    /// so a story that counts its refusals in calls may have fewer.
    pub(crate) refused: u64,
    /// The largest number of polls of one node in which its socket is missing.
    pub(crate) missing: u64,
    /// The first time at which a monitor is started while nothing listens.
    pub(crate) blind_start: Option<SimTime>,
}

impl Outages {
    /// The longest time that a monitor waits because of them.
    pub(crate) fn waits(&self, real_time: &RealTime) -> Duration {
        real_time.waits(self.refused, self.missing)
    }

    /// The outages of a story.
    pub(crate) fn of(story: &Story) -> Self {
        let mut outages = Self::default();
        let mut refused: BTreeMap<&NodeName, u64> = BTreeMap::new();
        let mut missing: BTreeMap<&NodeName, u64> = BTreeMap::new();
        let mut connectors: BTreeMap<&NodeName, ConnectorScript> = story
            .monitors
            .iter()
            .map(|node| (node, ConnectorScript::default()))
            .collect();
        let mut starts: Vec<(SimTime, &NodeName)> = story
            .monitors
            .iter()
            .map(|node| (SimTime::ZERO, node))
            .collect();
        set(
            &mut connectors,
            &story.given,
            SimTime::ZERO,
            story.ticks,
            &mut starts,
        );
        let mut steps = story.steps.as_slice();
        let polls = story.ticks.last_until(story.until);
        for tick in 0..=polls {
            let now = story.ticks.at(tick);
            for connector in connectors.values_mut() {
                connector.advance(now);
            }
            let due = steps.partition_point(|step| step.at <= now);
            let (these, later) = steps.split_at(due);
            steps = later;
            set(&mut connectors, these, now, story.ticks, &mut starts);
            for (_, node) in starts.extract_if(.., |(at, _)| *at <= now) {
                let listens = connectors
                    .get(node)
                    .is_none_or(|connector| connector.socket() == Socket::Listening);
                if !listens {
                    outages.blind_start.get_or_insert(now);
                }
            }
            for (node, connector) in &mut connectors {
                let counted = match connector.socket() {
                    Socket::Absent => &mut missing,
                    Socket::Listening if connector.call().accepted() => continue,
                    Socket::Listening | Socket::Refusing => &mut refused,
                };
                *counted.entry(node).or_default() += 1;
            }
        }
        let most = |of: BTreeMap<&NodeName, u64>| of.into_values().max().unwrap_or_default();
        (outages.refused, outages.missing) = (most(refused), most(missing));
        outages
    }
}

/// Carries out what steps do to the connectors, and notes the starts that they cause.
fn set<'s>(
    connectors: &mut BTreeMap<&'s NodeName, ConnectorScript>,
    steps: &'s [Step],
    now: SimTime,
    ticks: Ticks,
    starts: &mut Vec<(SimTime, &'s NodeName)>,
) {
    for action in steps.iter().flat_map(|step| &step.actions) {
        match action {
            StepAction::Connector(node, action) => {
                if let Some(connector) = connectors.get_mut(node) {
                    connector.set(now, action);
                }
            }
            StepAction::Monitor(node, MonitorAction::Restart { away_ticks, .. }) => {
                let back = ticks.first_from(now) + u64::from(*away_ticks);
                starts.push((ticks.at(back), node));
            }
            StepAction::Monitor(node, MonitorAction::Start { .. }) => starts.push((now, node)),
            StepAction::Reboot { node, plan } => starts.push((now + plan.takes, node)),
            _ => {}
        }
    }
}
