//! Checks of the drivers that a platform uses: texts with a fixed spelling in the kernel.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Check;
use crate::{Driver, ProblemKind, provenance, yaml};

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

impl Check<'_> {
    pub(super) fn drivers(&mut self) {
        let platform = self.platform;
        let used: BTreeSet<&str> = platform
            .profile
            .devices
            .iter()
            .map(|device| device.driver.as_str())
            .collect();
        for driver in used.into_iter().filter_map(|name| platform.driver(name)) {
            self.driver(driver);
        }
    }

    fn driver(&mut self, driver: &Driver) {
        let source = Arc::clone(&driver.source);
        let mut wrong = |path: &str, what, text: &str, words: &[&str]| {
            let hint = match yaml::nearest(text, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the kernel writes one of: {}", words.join(", ")),
            };
            let text = text.to_owned();
            self.flag_in(&source, path, ProblemKind::Spelling { what, text, hint });
        };
        if !NODE_TYPES.contains(&driver.node_type.as_str()) {
            wrong("node_type", "node type", &driver.node_type, NODE_TYPES);
        }
        let layers = ["InfiniBand", "Ethernet", "Unknown"];
        if let Some(text) = driver.link_layer_text.as_deref()
            && !layers.contains(&text)
        {
            wrong("link_layer_text", "link layer", text, &layers);
        }
        for (condition, view) in &driver.views {
            if !OPERSTATES.contains(&view.operstate.as_str()) {
                let path = format!("views.{}.operstate", condition.key());
                wrong(&path, "operational state", &view.operstate, OPERSTATES);
            }
        }
        self.counters_twice(driver);
        self.driver_provenance(driver);
    }

    fn counters_twice(&mut self, driver: &Driver) {
        let lists = [
            ("counters", &driver.counters),
            ("hw_counters", &driver.hw_counters),
            ("statistics", &driver.statistics),
        ];
        for (list, files) in lists {
            let mut seen = BTreeSet::new();
            for (number, file) in files.iter().enumerate() {
                if !seen.insert(&file.name) {
                    let (what, value) = ("counter", file.name.clone());
                    let path = format!("{list}.{number}.name");
                    self.flag_in(&driver.source, &path, ProblemKind::Twice { what, value });
                }
            }
        }
    }

    fn driver_provenance(&mut self, driver: &Driver) {
        let crate::source::Source { file, text } = &*driver.source;
        let read = yaml::read::<std::collections::BTreeMap<String, serde_json::Value>>(file, text);
        let mut document = match read {
            Ok(document) => document,
            Err(error) => return self.flag_in(&driver.source, "", ProblemKind::Unclear(error)),
        };
        document.remove("provenance");
        let document = serde_json::Value::Object(document.into_iter().collect());
        let paths = provenance::paths(&document);
        for (number, entry) in driver.provenance.iter().enumerate() {
            for of in entry
                .of
                .iter()
                .filter(|of| !provenance::names_one(of, &paths))
            {
                let problem = ProblemKind::NamesNothing(of.clone());
                self.flag_in(&driver.source, &format!("provenance.{number}"), problem);
            }
        }
        for path in paths {
            if provenance::of_path(&driver.provenance, &path).is_none() {
                let problem = ProblemKind::NoProvenance(path.clone());
                self.flag_in(&driver.source, &path, problem);
            }
        }
    }
}
