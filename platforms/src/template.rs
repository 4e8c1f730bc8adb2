//! A template for a platform's file: a copy of another one under a new name, with a comment on each
//! key; and one for a driver's.

use std::collections::BTreeMap;

use files::did_you_mean;

use crate::capture::write;
use crate::provenance::Entry;
use crate::{Driver, Platform, Platforms};

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
#[error("there is no {what} `{name}` to begin with\nhint: {hint}")]
pub struct NoTemplate {
    what: &'static str,
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
            let near = did_you_mean(from, bases().map(|(name, _)| name));
            let base = from.split_once(':').map(|(base, _)| base);
            let hint = match self.get(from) {
                Some(_) => format!(
                    "it is a variant, which stands in the file of its platform: name `{}`, and the copy has the variant too",
                    base.unwrap_or(from)
                ),
                None => near + "`nicdrill platform list` lists them",
            };
            let name = from.to_owned();
            return Err(NoTemplate {
                what: "platform",
                name,
                hint,
            });
        };
        Ok(base.under_another_name(name))
    }

    /// The drivers, which each platform has all of.
    fn drivers(&self) -> &BTreeMap<String, Driver> {
        let (_, any) = self.iter().next().expect("platforms ship");
        &any.drivers
    }

    /// Whether there is a driver of this name.
    #[must_use]
    pub fn has_driver(&self, name: &str) -> bool {
        self.drivers().contains_key(name)
    }

    /// The file of driver `from` as a file of driver `name`, in which every value is a guess.
    ///
    /// # Errors
    /// If there is no driver `from`.
    pub fn driver_template(&self, name: &str, from: &str) -> Result<String, NoTemplate> {
        let drivers = self.drivers();
        let Some(base) = drivers.get(from) else {
            let known: Vec<&str> = drivers.keys().map(String::as_str).collect();
            let near = did_you_mean(from, known.iter().copied());
            return Err(NoTemplate {
                what: "driver",
                name: from.to_owned(),
                hint: format!("{near}there is: {}", known.join(", ")),
            });
        };
        let head = format!(
            "# {name}, begun as a copy of {from}. `nicdrill check {name}.yaml` says what is wrong with it; a platform names it as \
             `driver: {name}`.\n"
        );
        let lines = base.source.text.lines();
        let lines = lines.skip_while(|line| line.starts_with('#') || line.is_empty());
        let lines = lines.take_while(|line| !line.starts_with("provenance:"));
        let lines = lines.map(|line| match line.starts_with("name:") {
            true => format!("name: {name}\n"),
            false => format!("{line}\n"),
        });
        let body: String = lines.collect();
        Ok(head + &body + &copied_provenance(&base.provenance, from))
    }
}

/// The provenance of a copy: every value is as likely as the two are alike.
fn copied_provenance(entries: &[Entry], from: &str) -> String {
    let mut text = "provenance:\n".to_owned();
    for entry in entries {
        let of: Vec<String> = entry.of.iter().map(|of| write::quoted(of)).collect();
        text += &format!(
            "  - of: [{}]\n    plausible: copied from {from}\n",
            of.join(", ")
        );
    }
    text
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
                text += &copied_provenance(&self.profile.provenance, &self.profile.name);
            } else {
                text += &format!("{line}\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of each shipped driver is a driver of another name, which shows the same.
    #[test]
    fn a_copy_of_a_driver_can_be_read() {
        let shipped = Platforms::shipped();
        let (_, any) = shipped.iter().next().unwrap();
        for from in any.drivers.keys() {
            let text = shipped.driver_template("acme", from).unwrap();
            let read = Platforms::read(&[("acme.yaml", &text)])
                .unwrap_or_else(|error| panic!("{from}: {error}"));
            let (_, any) = read.iter().next().unwrap();
            let (copy, original) = (&any.drivers["acme"], &any.drivers[from]);
            assert_eq!(copy.kernel_driver, original.kernel_driver);
            assert!(
                copy.provenance
                    .iter()
                    .all(|entry| format!("{entry:?}").contains("copied from"))
            );
        }
        let error = shipped
            .driver_template("acme", "bnxt")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("there is no driver `bnxt`") && error.contains("bnxt_re"),
            "{error}"
        );
    }
}
