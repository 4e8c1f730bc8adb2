//! A single line of `do:`, resolved for a machine at rest instead of within a story.

use std::collections::{BTreeMap, BTreeSet};

use files::{Node, yaml};
use platforms::{NodeName, Platform};
use simfs::SimTime;

use crate::context::Context;
use crate::error::Unfit;
use crate::handle::Handle;
use crate::polls::Polls;
use crate::reader::Source;
use crate::resolve::action_resolver::ActionResolver;
use crate::resolved_world::ResolvedWorld;
use crate::story::StepAction;
use crate::ticks::Ticks;
use crate::verbs;

/// Reads one line of `do:`, such as `cut: mlx5_3`. Each device's name at rest is a handle for all
/// its ports, also after a rename.
///
/// # Errors
/// [`Unfit::Wrong`] if the line is invalid, [`Unfit::NotApplicable`] if the platform lacks
/// something. The caller checks whether there is a monitor or connector for steps that need one.
pub fn read_actions(
    line: &str,
    node: &NodeName,
    platform: &Platform,
) -> Result<Vec<StepAction>, Unfit> {
    let source = Source {
        file: "action",
        text: line,
    };
    let read: Node = yaml::read(source.file, line).map_err(crate::ScenarioError::from)?;
    let mut resolved = ResolvedWorld::new(node, platform);
    let devices: BTreeSet<String> = resolved
        .ports
        .iter()
        .map(|port| port.facts.device.to_string())
        .collect();
    let handles: Vec<Handle> = devices
        .iter()
        .map(|device| Handle::of_device(device))
        .collect();
    resolved.choose(&handles)?;
    let line = verbs::parse(&Context::new(source, &devices), &read)?;
    let polls = Polls::new(Ticks::every(SimTime::from_secs(1)), &[]);
    ActionResolver {
        source,
        resolved: &resolved,
        workloads: &[],
        plans: &BTreeMap::new(),
        polls: &polls,
    }
    .actions(&line, &[])
}
