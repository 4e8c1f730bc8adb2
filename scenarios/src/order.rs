//! A single deed, said to a machine at rest instead of in a story.

use std::collections::BTreeSet;

use platforms::yaml::{self, Node};
use platforms::{NodeName, Platform};
use simfs::SimTime;

use crate::context::Context;
use crate::error::Unfit;
use crate::handle::Handle;
use crate::polls::Polls;
use crate::reader::Source;
use crate::resolve::actions::ActionResolver;
use crate::resolved_world::ResolvedWorld;
use crate::story::StepAction;
use crate::verbs;

/// Reads one line of `do:`, such as `cut: mlx5_3`, where each device's name at rest is a handle of
/// all its ports. Names are those of the platform's rest also after a rename: a handle is a slot.
///
/// # Errors
/// [`Unfit::Wrong`] for whatever is wrong with the line, [`Unfit::NotApplicable`] for what the
/// platform lacks. Whether there is a monitor or a connector to do it to is the caller's to say.
pub fn read_actions(
    line: &str,
    node: &NodeName,
    platform: &Platform,
) -> Result<Vec<StepAction>, Unfit> {
    let source = Source {
        file: "deed",
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
    let polls = Polls::new(SimTime::from_secs(1), &[]);
    ActionResolver {
        source,
        resolved: &resolved,
        workloads: &[],
        polls: &polls,
    }
    .actions(&line, &[])
}
