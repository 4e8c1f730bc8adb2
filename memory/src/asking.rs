//! Reads the agents' metrics at the end of a tick, with the values that `/metrics` would have.
//!
//! `/healthz` depends on real time, so the memory arm does not have it.

use checks::{Agent, Family};
use platforms::NodeName;

use director::{MonitorId, metrics_query};

use super::{Cast, hands::MemoryHands};
use observe::Series;

impl Cast<'_, '_> {
    /// Reads from each agent the metrics about which the story has expectations in this tick.
    pub(super) fn ask_for_metrics(&self) {
        let tick = (self.world.borrow().ticks.len() as u64).saturating_sub(1);
        for node in &self.story.monitors {
            if !metrics_query(self.story, node, tick).metrics {
                continue;
            }
            let mut instances = self.running.iter();
            let Some(((_, monitor), running)) = instances.find(|((seated, _), _)| seated == node)
            else {
                continue;
            };
            let metrics = self.metrics(node, *monitor, &running.agent);
            let mut world = self.world.borrow_mut();
            let scene = world.node(node);
            // Reads for the answer are not part of a poll.
            scene.fs.take_trace();
            scene.tick.answers.metrics = Some(metrics);
        }
    }

    fn metrics(&self, node: &NodeName, monitor: MonitorId, agent: &Agent) -> Vec<Series> {
        let hands = MemoryHands {
            world: self.world,
            node,
            monitor,
        };
        let mut families = agent.metrics().families();
        families.push(agent.gid_ports().count(&hands));
        let lines = families.iter().flat_map(Family::lines);
        lines
            .map(|(name, labels, value)| Series {
                name,
                labels: labels.into_iter().collect(),
                value,
            })
            .collect()
    }
}
