//! Checks of the drivers that a platform uses: texts with a fixed spelling in the kernel.

use std::collections::BTreeSet;

use files::{nearest, yaml};

use super::{Finding, spelling::is_file_name};
use crate::driver::CounterFile;
use crate::{Driver, ProblemKind, provenance};

/// Values of `operstate` (`net/core/net-sysfs.c`, `operstates`; RFC 2863).
const OPERSTATES: &[&str] = &[
    "unknown",
    "notpresent",
    "down",
    "lowerlayerdown",
    "testing",
    "dormant",
    "up",
];

/// Values of `node_type` (`drivers/infiniband/core/sysfs.c`, `node_type_show`).
const NODE_TYPES: &[&str] = &[
    "1: CA",
    "2: switch",
    "3: router",
    "4: RNIC",
    "5: usNIC",
    "6: usNIC UDP",
    "7: unspecified",
];

/// The largest PCI class: a base class, a subclass and a programming interface of 8 bits each (PCI Local Bus Specification 3.0,
/// 6.2.1).
const PCI_CLASS_MAX: u32 = 0xff_ffff;

/// ARP hardware types (`include/uapi/linux/if_arp.h`, `ARPHRD_ETHER` and `ARPHRD_INFINIBAND`).
const ARP_TYPES: [u16; 2] = [1, 32];

/// The longest name of a file (`NAME_MAX`), in bytes.
const LONGEST_NAME: usize = 255;

/// What is replaced in a line of the kernel log.
const LOG_PLACEHOLDERS: [&str; 5] = ["pci", "device", "port", "netdev", "fw_ver"];

impl Driver {
    /// The problems of the self.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.spelling(&mut found);
        self.values(&mut found);
        self.log_lines(&mut found);
        self.counters_twice(&mut found);
        self.own_provenance(&mut found);
        found
    }

    fn spelling(&self, found: &mut Vec<Finding>) {
        let mut wrong = |path: &str, what, text: &str, words: &[&str]| {
            let hint = match nearest(text, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the kernel writes one of: {}", words.join(", ")),
            };
            let text = text.to_owned();
            let problem = ProblemKind::Spelling { what, text, hint };
            found.push(Finding::of(&self.source, path, problem));
        };
        if !NODE_TYPES.contains(&self.node_type.as_str()) {
            wrong("node_type", "node type", &self.node_type, NODE_TYPES);
        }
        let layers = ["InfiniBand", "Ethernet", "Unknown"];
        if let Some(text) = self.link_layer_text.as_deref()
            && !layers.contains(&text)
        {
            wrong("link_layer_text", "link layer", text, &layers);
        }
        for (condition, view) in &self.views {
            if !OPERSTATES.contains(&view.operstate.as_str()) {
                let path = format!("views.{}.operstate", condition.key());
                wrong(&path, "operational state", &view.operstate, OPERSTATES);
            }
        }
    }

    /// The counters' files, by the key that lists them.
    fn lists(&self) -> [(&'static str, &[CounterFile]); 3] {
        [
            ("counters", &self.counters),
            ("hw_counters", &self.hw_counters),
            ("statistics", &self.statistics),
        ]
    }

    /// Names and numbers that the kernel cannot have.
    fn values(&self, found: &mut Vec<Finding>) {
        let mut wrong = |path: &str, what, text: String, hint: String| {
            let problem = ProblemKind::Spelling { what, text, hint };
            found.push(Finding::of(&self.source, path, problem));
        };
        if self.pci_class > PCI_CLASS_MAX {
            let hint = "a PCI class has 24 bits, as in `0x020700`".to_owned();
            wrong(
                "pci_class",
                "PCI class",
                format!("{:#x}", self.pci_class),
                hint,
            );
        }
        if self.mtu == 0 {
            let hint = "the largest packet of an interface, in bytes: 1 or more".to_owned();
            wrong("mtu", "MTU", "0".to_owned(), hint);
        }
        if !ARP_TYPES.contains(&self.arp_type) {
            let hint = "1 of Ethernet or 32 of InfiniBand".to_owned();
            let text = self.arp_type.to_string();
            wrong("arp_type", "ARP hardware type", text, hint);
        }
        for (list, files) in self.lists() {
            for (number, file) in files.iter().enumerate() {
                if !is_file_name(&file.name, LONGEST_NAME) {
                    let path = format!("{list}.{number}.name");
                    let hint = "the name of a file in a folder of sysfs".to_owned();
                    wrong(&path, "name of a counter", file.name.clone(), hint);
                }
                if (1..=64).contains(&file.bits) && file.initial > file.max() {
                    let path = format!("{list}.{number}.initial");
                    let hint = format!("a field of {} bits ends at {}", file.bits, file.max());
                    wrong(&path, "value at rest", file.initial.to_string(), hint);
                }
            }
        }
    }

    /// Placeholders in the lines of the kernel log that nothing replaces.
    fn log_lines(&self, found: &mut Vec<Finding>) {
        for (event, lines) in &self.log {
            for (number, line) in lines.iter().enumerate() {
                let begun = line.split('{').skip(1);
                let named = begun.filter_map(|rest| Some(rest.split_once('}')?.0));
                for name in named.filter(|name| !LOG_PLACEHOLDERS.contains(name)) {
                    let allowed = LOG_PLACEHOLDERS.map(|known| format!("`{{{known}}}`"));
                    let allowed = format!("the placeholders are {}", allowed.join(", "));
                    let hint = match nearest(name, LOG_PLACEHOLDERS) {
                        Some(near) => format!("did you mean `{{{near}}}`? {allowed}"),
                        None => allowed,
                    };
                    let (what, text) = ("placeholder", format!("{{{name}}}"));
                    let path = format!("log.{}.{number}", event.key());
                    let problem = ProblemKind::Spelling { what, text, hint };
                    found.push(Finding::of(&self.source, &path, problem));
                }
            }
        }
    }

    fn counters_twice(&self, found: &mut Vec<Finding>) {
        for (list, files) in self.lists() {
            let mut seen = BTreeSet::new();
            for (number, file) in files.iter().enumerate() {
                if !seen.insert(&file.name) {
                    let (what, value) = ("counter", file.name.clone());
                    let path = format!("{list}.{number}.name");
                    let problem = ProblemKind::Twice { what, value };
                    found.push(Finding::of(&self.source, &path, problem));
                }
            }
        }
    }

    fn own_provenance(&self, found: &mut Vec<Finding>) {
        let crate::source::Source { file, text, .. } = &*self.source;
        let read = yaml::read::<std::collections::BTreeMap<String, serde_json::Value>>(file, text);
        let mut document = match read {
            Ok(document) => document,
            Err(error) => {
                let problem = ProblemKind::Unclear(error);
                return found.push(Finding::of(&self.source, "", problem));
            }
        };
        document.remove("provenance");
        let document = serde_json::Value::Object(document.into_iter().collect());
        let paths = provenance::paths(&document);
        for (number, entry) in self.provenance.iter().enumerate() {
            for of in entry
                .of
                .iter()
                .filter(|of| !provenance::names_one(of, &paths))
            {
                let problem = ProblemKind::NamesNothing(of.clone());
                let path = format!("provenance.{number}");
                found.push(Finding::of(&self.source, &path, problem));
            }
        }
        for path in paths {
            if provenance::of_path(&self.provenance, &path).is_none() {
                let problem = ProblemKind::NoProvenance(path.clone());
                found.push(Finding::of(&self.source, &path, problem));
            }
        }
    }
}
