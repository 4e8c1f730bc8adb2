//! A template for a platform's file: a copy of another one under a new name, with a comment on each
//! key.

use crate::capture::write;
use crate::yaml::nearest;
use crate::{Platform, Platforms};

/// The comments on the keys.
const WORDS: &[(&str, &str)] = &[
    ("platform_version:", "The version of this form."),
    (
        "name:",
        "The name on the command line: small letters, digits and `-`.",
    ),
    ("about:", "What machine it is, in a sentence."),
    (
        "gpus:",
        "The GPUs, in the order of their numbers: an address and a NUMA node each (-1: unknown).",
    ),
    (
        "cpus:",
        "The CPUs of each NUMA node, as `nvidia-smi topo -m` prints them.",
    ),
    (
        "models:",
        "The makes of network card; `lspci -nn -vv` and `/sys/class/infiniband/*` tell them.",
    ),
    (
        "devices:",
        "One line for each network function. `topo` is its row of `nvidia-smi topo -m`: a level for each GPU.",
    ),
    (
        "skipped:",
        "Devices that a capture could not describe: describe them under `devices`, or leave them out.",
    ),
    (
        "interfaces:",
        "Interfaces behind which there is no RDMA device.",
    ),
    (
        "default_route:",
        "The interface of the default route; leave it out if there is none.",
    ),
    (
        "roles:",
        "How many functions are for what; held against the devices.",
    ),
    (
        "counters:",
        "Counters that do not start at what the driver says.",
    ),
    ("vfs:", "Virtual functions that are there at rest."),
    (
        "identifiers:",
        "Numbers and names of the one node it was captured on.",
    ),
    ("notes:", "What a reader ought to know."),
    (
        "variants:",
        "Machines that differ in a few points; leave them out to begin with.",
    ),
    (
        "provenance:",
        "Where each value comes from: `sourced`, `captured`, `inferred` or `plausible`. A copy's are plausible until you say more.",
    ),
];

/// Why there is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no platform `{name}` to begin with\nhint: {hint}")]
pub struct NoTemplate {
    name: String,
    hint: String,
}

impl Platforms {
    /// The file of platform `from` as a file of platform `name`, with a comment on each key.
    ///
    /// # Errors
    /// If there is no platform `from`. A variant is in its base's file and cannot be copied.
    pub fn template(&self, name: &str, from: &str) -> Result<String, NoTemplate> {
        let bases = || self.iter().filter(|(name, _)| !name.contains(':'));
        let Some((_, base)) = bases().find(|(name, _)| *name == from) else {
            let near = nearest(from, bases().map(|(name, _)| name));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`? `nicdrill platform list` lists them"),
                None => "`nicdrill platform list` lists them".to_owned(),
            };
            let name = from.to_owned();
            return Err(NoTemplate { name, hint });
        };
        Ok(base.under_another_name(name))
    }
}

impl Platform {
    fn under_another_name(&self, name: &str) -> String {
        let mut text = format!(
            "# {name}, begun as a copy of {}. `nicdrill platform check ./{name}.yaml` says what is wrong with it.\n",
            self.profile.name
        );
        let lines = self.source.text.lines();
        let mut is_provenance = false;
        for line in lines.skip_while(|line| line.starts_with('#') || line.is_empty()) {
            // The copy's entries are written anew: what was read of another machine is a guess here.
            is_provenance = match line.chars().next() {
                None | Some(' ' | '-' | '#' | ']') => is_provenance,
                Some(_) => line.starts_with("provenance:"),
            };
            if is_provenance && !line.starts_with("provenance:") {
                continue;
            }
            let word = WORDS.iter().find(|(key, _)| line.starts_with(key));
            if let Some((_, word)) = word {
                text += &format!("\n# {word}\n");
            }
            if line.starts_with("name:") {
                text += &format!("name: {name}\n");
            } else if is_provenance {
                text += &self.copied_provenance();
            } else {
                text += &format!("{line}\n");
            }
        }
        text
    }

    /// The provenance of a copy: every value is as likely as the two machines are alike.
    fn copied_provenance(&self) -> String {
        let mut text = "provenance:\n".to_owned();
        for entry in &self.profile.provenance {
            let of: Vec<String> = entry.of.iter().map(|of| write::quoted(of)).collect();
            text += &format!(
                "  - of: [{}]\n    plausible: copied from {}\n",
                of.join(", "),
                self.profile.name
            );
        }
        text
    }
}
