//! Identifies each listed entry by its PCI function, from the link or, if the entry is not a link,
//! from `uevent`. Start with [`Discovery::identify`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::batch::Batch;
use super::{Discovery, Learnt};
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::name::{DeviceName, PciFunction, SlotKey};
use crate::snapshot::{Blind, Facts, Identity, Snapshot};

impl Discovery {
    /// Reads every entry's link, and `uevent` if the entry is not a link.
    pub(super) fn identify(
        &self,
        hands: &dyn Hands,
        names: &[String],
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) -> Vec<Draft> {
        let links = self.links(names, learnt);
        let answers = hands.fetch(&links.requests);
        let draft = |name: &DeviceName| Draft {
            name: name.clone(),
            known: self.facts.get(name).map(Arc::clone),
            identity: None,
            trouble: None,
        };
        let mut drafts: Vec<Draft> = links.of.iter().map(draft).collect();
        let mut folders = Vec::new();
        for (index, answer) in answers.into_iter().enumerate() {
            let Some(draft) = drafts.get_mut(index) else {
                break;
            };
            match answer {
                Ok(Answer::Target(target)) => draft.identity = Some(Identity::Link(target)),
                Err(ReadError::EINVAL) => folders.push(index),
                Err(error) => {
                    draft.trouble = Some(self.blind(links.requests[index].path(), error, snapshot));
                }
                Ok(_) => {
                    draft.trouble = Some(Self::garbled(links.requests[index].path(), snapshot))
                }
            }
        }
        if !folders.is_empty() {
            self.identify_folders(hands, &folders, &mut drafts, snapshot);
        }
        drafts
    }

    fn links(&self, names: &[String], learnt: &mut Learnt) -> Arc<Batch<DeviceName>> {
        let kept = &mut learnt.batches.links;
        if kept.of.iter().map(DeviceName::as_str).eq(names) {
            return Arc::clone(kept);
        }
        let anchor = &self.config.sys_class_infiniband;
        let names = names.iter().map(|name| name.as_str().into()).collect();
        let link = |name: &DeviceName| Request::ReadLink(format!("{anchor}/{name}"));
        Batch::of(kept, names, |names| names.iter().map(link).collect())
    }

    fn identify_folders(
        &self,
        hands: &dyn Hands,
        folders: &[usize],
        drafts: &mut [Draft],
        snapshot: &mut Snapshot,
    ) {
        let requests: Vec<Request> = folders
            .iter()
            .map(|&index| Request::Read(self.path(&drafts[index].name, "device/uevent")))
            .collect();
        let answers = hands.fetch(&requests);
        for ((&index, request), answer) in folders.iter().zip(&requests).zip(answers) {
            let draft = &mut drafts[index];
            match answer {
                Ok(Answer::Bytes(bytes)) => {
                    let text = String::from_utf8_lossy(&bytes);
                    draft.identity = Some(Identity::Folder(PciFunction::from_uevent(&text)));
                }
                // A device without a bus has no useful `uevent`: it is identified by its name.
                Err(ReadError::ENOENT) => draft.identity = Some(Identity::Folder(None)),
                Err(error) => draft.trouble = Some(self.blind(request.path(), error, snapshot)),
                Ok(_) => draft.trouble = Some(Self::garbled(request.path(), snapshot)),
            }
        }
    }
}

/// A device whose facts and ports are still being read.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: DeviceName,
    pub(super) known: Option<Arc<Facts>>,
    pub(super) identity: Option<Identity>,
    /// Why its identity could not be read.
    pub(super) trouble: Option<Blind>,
}

/// An entry that cannot be read keeps its last known identity, unless that device is listed under
/// another name.
pub(super) fn disown(drafts: &mut [Draft]) {
    if drafts.iter().all(|draft| draft.trouble.is_none()) {
        return;
    }
    let of = |draft: &Draft| draft.known.as_ref().map(|facts| facts.key.clone());
    let read = drafts.iter().filter(|draft| draft.trouble.is_none());
    let here: BTreeSet<SlotKey> = read.filter_map(of).collect();
    for draft in drafts.iter_mut().filter(|draft| draft.trouble.is_some()) {
        if of(draft).is_some_and(|key| here.contains(&key)) {
            draft.known = None;
        }
    }
}
