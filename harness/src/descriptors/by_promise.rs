//! Stories about a machine that a monitor takes otherwise than the documents ask, by its promises, so that nothing of what
//! they state is owed. Start at [`otherwise`].

use director::{Log, Occurrence};
use observe::{
    Descriptor,
    promises::{Kind, Levels, Named, Row},
};
use platforms::{MetadataFile, TopoLevel};
use scenarios::{FileRef, RuleAction, RuleEffect, Story};

/// What a monitor promises that makes a story not apply, as the end of `` `NAME` … ``; `None` if nothing does.
pub(super) fn otherwise(descriptor: &Descriptor, story: &Story, log: &Log) -> Option<&'static str> {
    let promises = &descriptor.promises;
    let metadata = promises.row(&Kind::Named(Named::Metadata), None);
    let takes_any = matches!(metadata, Some(Row::Says(says)) if says.levels == Some(Levels::Any));
    if takes_any && written(log).any(has_unknown_level) {
        return Some("takes levels of the topology that nobody knows");
    }
    let is_near = promises.scope.as_ref().and_then(|scope| scope.near_gpu);
    let mut rules = log.reads.iter().map(|ruled| &ruled.rule);
    if is_near == Some(true) && rules.any(|rule| hides_numa_node(story, rule)) {
        return Some("watches devices beside a GPU whatever their NUMA node is");
    }
    None
}

/// The metadata files that replace the platform's own.
fn written(log: &Log) -> impl Iterator<Item = &MetadataFile> {
    let what = log.acts.iter().flat_map(|act| &act.what);
    what.filter_map(|what| match what {
        Occurrence::Collected(file) => Some(file),
        _ => None,
    })
}

/// Whether metadata have a level that `nvidia-smi` does not print.
fn has_unknown_level(file: &MetadataFile) -> bool {
    let MetadataFile::Text(text) = file else {
        return false;
    };
    let metadata: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let rows = metadata["nic_topology"].as_object().into_iter().flatten();
    let levels = rows.flat_map(|(_, row)| row.as_array().into_iter().flatten());
    let mut words = levels.filter_map(serde_json::Value::as_str);
    words.any(|word| TopoLevel::by_word(word).is_none())
}

/// Whether a rule gives a device beside a GPU another NUMA node.
fn hides_numa_node(story: &Story, rule: &RuleAction) -> bool {
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
