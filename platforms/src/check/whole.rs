//! Checks of the machine as a whole: GPUs, NUMA nodes, roles, virtual functions, provenance.

use std::collections::{BTreeMap, BTreeSet};

use files::yaml;

use super::Check;
use crate::profile::{Roles, Vfs};
use crate::render::{cpus_of, unlike_a_range};
use crate::{NicRole, ProblemKind, TopoLevel, provenance};

impl Check<'_> {
    pub(super) fn whole(&mut self) {
        self.gpus();
        self.numa_nodes();
        self.cpus();
        self.skipped();
        self.roles();
        self.virtual_functions();
        self.counters();
    }

    fn gpus(&mut self) {
        let gpus = &self.platform.profile.gpus;
        let (pci, numa) = (gpus.pci.len(), gpus.numa.len());
        if pci != numa {
            self.flag("gpus.numa", ProblemKind::GpuCount { pci, numa });
        } else if pci == 0 {
            self.flag("gpus.pci", ProblemKind::NoGpus);
        }
        if gpus.between == Some(TopoLevel::X) {
            let cell = "two GPUs";
            self.flag(
                "gpus.between",
                ProblemKind::SelfInCell { cell: cell.into() },
            );
        }
    }

    /// Reports NUMA nodes in `cpus` without a GPU or NIC, and in `numa_texts` without a GPU.
    fn numa_nodes(&mut self) {
        let profile = &self.platform.profile;
        let gpus: BTreeSet<i32> = profile.gpus.numa.iter().copied().collect();
        let nics = profile.devices.iter().map(|device| device.numa);
        let all: BTreeSet<i32> = nics.chain(gpus.iter().copied()).collect();
        let cpus = profile.cpus.keys().map(|node| ("cpus", *node));
        // The only entry may be that of GPUs whose node is not known; among others it is told with the CPUs.
        let is_alone = profile.cpus.len() == 1;
        let strays: Vec<_> = cpus
            .filter(|(_, node)| !all.contains(node) && (is_alone || *node >= 0))
            .collect();
        let texts = profile.gpus.numa_texts.keys();
        let texts = texts.filter(|node| !gpus.contains(node));
        let texts = texts.map(|node| ("gpus.numa_texts", *node));
        for (key, node) in strays.into_iter().chain(texts) {
            self.flag(
                &format!("{key}.{node}"),
                ProblemKind::StrayNuma { key, node },
            );
        }
    }

    /// Reports CPUs that two NUMA nodes have, and GPUs on a node without CPUs.
    fn cpus(&mut self) {
        let profile = &self.platform.profile;
        let mut nodes: BTreeMap<u16, i32> = BTreeMap::new();
        let mut twice: BTreeMap<i32, ProblemKind> = BTreeMap::new();
        for (node, list) in &profile.cpus {
            for cpu in cpus_of(list) {
                if let Some(first) = nodes.insert(cpu, *node) {
                    let (node, other) = (first, *node);
                    twice
                        .entry(other)
                        .or_insert(ProblemKind::CpuTwice { cpu, node, other });
                }
            }
        }
        for (node, list) in &profile.cpus {
            if let Some(part) = unlike_a_range(list) {
                let problem = ProblemKind::Spelling {
                    what: "range of CPUs",
                    text: part.to_owned(),
                    hint: "numbers and ranges, as in `0-47,96-143`".to_owned(),
                };
                self.flag(&format!("cpus.{node}"), problem);
            }
        }
        let unknown = profile.cpus.keys().filter(|node| **node < 0);
        for node in unknown.filter(|_| profile.cpus.len() > 1) {
            let problem = ProblemKind::Spelling {
                what: "NUMA node with CPUs",
                text: node.to_string(),
                hint: "-1 stands for a node that is not known; where others are, leave it out"
                    .to_owned(),
            };
            self.flag(&format!("cpus.{node}"), problem);
        }
        let mut missing: BTreeMap<i32, usize> = BTreeMap::new();
        for (gpu, node) in profile.gpus.numa.iter().enumerate() {
            if *node >= 0 && !profile.cpus.is_empty() && !profile.cpus.contains_key(node) {
                missing.entry(*node).or_insert(gpu);
            }
        }
        for (node, problem) in twice {
            self.flag(&format!("cpus.{node}"), problem);
        }
        for (node, gpu) in missing {
            self.flag("cpus", ProblemKind::NoCpus { node, gpu });
        }
    }

    fn skipped(&mut self) {
        let all = &self.platform.profile.skipped;
        let mut told: BTreeSet<&str> = BTreeSet::new();
        for (number, skipped) in all.iter().enumerate() {
            let why = skipped.why.as_str();
            if told.insert(why) {
                let alike = all.iter().filter(|other| other.why == why);
                let devices = alike.map(|other| other.name.clone()).collect();
                let why = why.to_owned();
                self.flag(
                    &format!("skipped.{number}"),
                    ProblemKind::Skipped { devices, why },
                );
            }
        }
    }

    fn roles(&mut self) {
        let profile = &self.platform.profile;
        let count = |role| {
            let devices = profile.devices.iter();
            devices.filter(|device| device.role == role).count()
        };
        let are = Roles {
            management: count(NicRole::Management),
            compute: count(NicRole::Compute),
            storage: count(NicRole::Storage),
        };
        if are != profile.roles {
            let reported = profile.roles.to_string();
            let are = are.to_string();
            self.flag("roles", ProblemKind::Roles { reported, are });
        }
    }

    fn virtual_functions(&mut self) {
        let profile = &self.platform.profile;
        let Some(Vfs { each, of }) = &profile.vfs else {
            return;
        };
        for device in profile.devices.iter().filter(|it| of.contains(&it.name)) {
            let model = profile.models.get(&device.model);
            let total = model.and_then(|model| model.sriov_totalvfs).unwrap_or(0);
            if *each > total {
                let device = device.name.clone();
                let asked = *each;
                self.flag(
                    "vfs.each",
                    ProblemKind::TooManyVfs {
                        device,
                        asked,
                        total,
                    },
                );
            }
        }
    }

    fn counters(&mut self) {
        let platform = self.platform;
        let devices = platform.profile.devices.iter();
        let drivers: Vec<_> = devices
            .filter_map(|device| platform.driver(&device.driver))
            .collect();
        for (name, value) in &platform.profile.counters {
            let path = format!("counters.{name}");
            let mut files = drivers.iter().filter_map(|driver| driver.counter(name));
            let Some(file) = files.next() else {
                self.flag(&path, ProblemKind::NoSuchCounter(name.clone()));
                continue;
            };
            if *value > file.max() {
                let (name, value, max) = (name.clone(), *value, file.max());
                self.flag(&path, ProblemKind::CounterTooLarge { name, value, max });
            }
        }
    }

    pub(super) fn provenance(&mut self) {
        let entries = &self.platform.profile.provenance;
        for (number, entry) in entries.iter().enumerate() {
            if entry.mark().is_none() {
                let problem = ProblemKind::NotOneMark(entry.of.join(", "));
                self.flag(&format!("provenance.{number}"), problem);
            }
        }
        self.without_provenance();
        self.names_nothing();
    }

    /// Reports every path of an entry of `provenance` that names nothing in the file.
    fn names_nothing(&mut self) {
        let source = self.platform.source.clone();
        let paths = provenance::paths_of_text(&source.text);
        for (number, entry) in self.platform.profile.provenance.iter().enumerate() {
            for of in entry
                .of
                .iter()
                .filter(|of| !provenance::names_one(of, &paths))
            {
                let problem = ProblemKind::NamesNothing(of.clone());
                self.flag_in(&source, &format!("provenance.{number}"), problem);
            }
        }
    }

    /// Reports every value that no entry of `provenance` covers. The text is parsed again, so that
    /// unused values are included.
    fn without_provenance(&mut self) {
        let source = &self.platform.source;
        let read = yaml::read::<BTreeMap<String, serde_json::Value>>(&source.file, &source.text);
        let mut document = match read {
            Ok(document) => document,
            Err(error) => return self.flag("", ProblemKind::Unclear(error)),
        };
        document.remove("provenance");
        let document = serde_json::Value::Object(document.into_iter().collect());
        let entries = &self.platform.profile.provenance;
        for path in provenance::paths(&document) {
            if provenance::of_path(entries, &path).is_none() {
                let source = self.platform.source.clone();
                self.flag_in(&source, &path, ProblemKind::NoProvenance(path.clone()));
            }
        }
    }
}
