//! Stories about a machine that a monitor takes otherwise than the documents ask, by its promises, so that nothing of what
//! they state is owed. Start at [`otherwise`].

use fabric::{Action, NodeAction};
use observe::{
    Descriptor,
    promises::{Kind, Levels, Named, Row},
};
use platforms::{MetadataFile, TopoLevel};
use scenarios::{FileRef, RuleEffect, StepAction, Story};

/// What a monitor promises that makes a story not apply, as the end of `` `NAME` … ``; `None` if nothing does.
pub(super) fn otherwise(descriptor: &Descriptor, story: &Story) -> Option<&'static str> {
    let promises = &descriptor.promises;
    let metadata = promises.row(&Kind::Named(Named::Metadata), None);
    let takes_any = matches!(metadata, Some(Row::Says(says)) if says.levels == Some(Levels::Any));
    if takes_any && story.actions().any(writes_unknown_level) {
        return Some("takes levels of the topology that nobody knows");
    }
    let is_near = promises.scope.as_ref().and_then(|scope| scope.near_gpu);
    if is_near == Some(true) && story.actions().any(|action| hides_numa_node(story, action)) {
        return Some("watches devices beside a GPU whatever their NUMA node is");
    }
    None
}

/// Whether an action writes metadata with a level that `nvidia-smi` does not print.
fn writes_unknown_level(action: &StepAction) -> bool {
    let StepAction::World(Action::Node(_, NodeAction::Metadata { file })) = action else {
        return false;
    };
    let MetadataFile::Text(text) = file else {
        return false;
    };
    let metadata: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let rows = metadata["nic_topology"].as_object().into_iter().flatten();
    let levels = rows.flat_map(|(_, row)| row.as_array().into_iter().flatten());
    let mut words = levels.filter_map(serde_json::Value::as_str);
    words.any(|word| TopoLevel::by_word(word).is_none())
}

/// Whether an action gives a device beside a GPU another NUMA node.
fn hides_numa_node(story: &Story, action: &StepAction) -> bool {
    let StepAction::Rule(rule) = action else {
        return false;
    };
    let FileRef::Device(_, pci, below) = &rule.file else {
        return false;
    };
    if !below.ends_with("numa_node") || !matches!(rule.effect, RuleEffect::Content(_)) {
        return false;
    }
    story.platform_of(&rule.node).is_some_and(|platform| {
        let ports = platform.ports();
        ports
            .iter()
            .any(|port| port.pci == *pci && port.is_near_gpu)
    })
}
