//! Every mistake of platforms and drivers at once, of their words, their names and their values: `nicdrill check`.
//!
//! [`Platforms::read`] ends at the first mistake. Here what is wrong is left out, and the rest is judged; what may be the
//! consequence of a mistake that is told, or of what is left out, is not told. Start at [`Survey::of`].

mod consequence;
mod gaps;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;
use std::sync::Arc;

use crate::catalogue::{A_NAME, of_driver, of_profile};
use crate::check::Finding;
use crate::problem::Needs;
use crate::profile::Profile;
use crate::rest::CountersAtRest;
use crate::source::Mistake;
use crate::{Driver, NVIDIA_NETWORKING, Platform, Platforms, ProblemKind};

use consequence::without_consequences;
use files::FileError;
use gaps::{Gaps, Part};

/// A value for each key that a driver's file must have.
const DRIVER_STAND_INS: &str = "\
{ driver_version: 1, name: any, about: any, kernel_driver: any, layer: Ethernet, pci_class: 0, node_type: \"1: CA\",
  gid_table: 1, pkey_table: 1, cap_mask: 0, arp_type: 1, mtu: 1, counters: [], hw_counters: [], statistics: [],
  views: {}, interface_down_takes_port: false, moves: {}, log: {}, timings_ms: {}, keeps: {}, provenance: [] }
";

/// A value for each key that a platform's file must have.
const PROFILE_STAND_INS: &str = "\
{ platform_version: 1, name: any, about: any,
  gpus: { model: any, device: 0, driver_version: any, pci: [], numa: [] },
  models: {}, devices: [], roles: { management: 0, compute: 0, storage: 0 }, provenance: [] }
";

/// What is wrong with a vendor's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Every mistake, in the order of the files and of their texts: the drivers, then the platforms.
    pub mistakes: Vec<FileError>,
    /// The files that [`Platforms::read`] takes together.
    pub sound: BTreeSet<String>,
}

impl Survey {
    /// Judges these drivers, and these platforms beside them and the shipped ones: file name and text of each.
    #[must_use]
    pub fn of(drivers: &[(&str, &str)], platforms: &[(&str, &str)]) -> Self {
        Self::beside(&Platforms::shipped(), drivers, platforms)
    }

    fn beside(shipped: &Platforms, drivers: &[(&str, &str)], platforms: &[(&str, &str)]) -> Self {
        let mut survey = Self::default();
        let mut beside = Drivers::of(shipped);
        for (file, text) in drivers {
            let told = beside.add(file, text, &mut survey.sound);
            survey.tell(told);
        }
        let mut names: BTreeSet<String> = shipped.iter().map(|(name, _)| name.to_owned()).collect();
        for (file, text) in platforms {
            let mut surveyed = Surveyed::of(file, text);
            let is_sound = surveyed.judge(&beside, &mut names);
            survey.tell(surveyed.told);
            if is_sound {
                survey.sound.insert((*file).to_owned());
            }
        }
        survey
    }

    /// Adds the mistakes of a file.
    fn tell(&mut self, mut told: Vec<FileError>) {
        told.sort_by_key(|error| error.place);
        told.dedup();
        self.mistakes.extend(told);
    }
}

/// The drivers that platforms can name.
struct Drivers {
    /// Those without a mistake, and the shipped ones.
    known: Arc<BTreeMap<String, Driver>>,
    /// The names of the others.
    broken: BTreeSet<String>,
    /// Whether there is one whose name cannot be known.
    has_nameless: bool,
    /// Whether one has two counters of a name, so that it may lack another one.
    has_twins: bool,
}

impl Drivers {
    fn of(shipped: &Platforms) -> Self {
        let first = shipped.iter().next().map(|(_, platform)| platform);
        Self {
            known: first
                .map(|platform| Arc::clone(&platform.drivers))
                .unwrap_or_default(),
            broken: BTreeSet::new(),
            has_nameless: false,
            has_twins: false,
        }
    }

    /// Adds the driver of a file, and notes the file if it can be read; returns its mistakes.
    fn add(&mut self, file: &str, text: &str, sound: &mut BTreeSet<String>) -> Vec<FileError> {
        let part: Part<Driver> = Part::of(file, text, DRIVER_STAND_INS);
        let (mut told, gaps) = (part.mistakes, part.gaps);
        let Some(mut driver) = part.value else {
            self.has_nameless = true;
            return told;
        };
        driver.source = Arc::new(part.source);
        let is_known = self.known.contains_key(&driver.name) || self.broken.contains(&driver.name);
        let mistakes = of_driver(&driver, is_known);
        let findings = without_consequences(driver.findings());
        let is_twice =
            |finding: &Finding| matches!(finding.problem.problem, ProblemKind::Twice { .. });
        let has_twins = findings.iter().any(is_twice);
        let is_nameless = !gaps.spare("name") || has_name_mistake(&mistakes);
        self.has_twins |= has_twins;
        self.has_nameless |= is_nameless;
        if gaps.are_none() && mistakes.is_empty() {
            sound.insert(file.to_owned());
            Arc::make_mut(&mut self.known).insert(driver.name.clone(), driver);
        } else if !is_nameless {
            Arc::make_mut(&mut self.known).remove(&driver.name);
            self.broken.insert(driver.name.clone());
        }
        let own = mistakes.into_iter().filter(|mistake| {
            // The counter may be the one that has the name of another.
            let is_twin = has_twins && mistake.about.0 == "counter";
            !is_twin && gaps.spare_mistake(mistake, None)
        });
        told.extend(own.map(|mistake| mistake.error));
        let own = findings
            .into_iter()
            .filter(|it| gaps.spare_finding(it, None));
        told.extend(own.map(|finding| finding.problem.error));
        told
    }
}

/// A platform's file that is judged.
struct Surveyed {
    part: Option<(Platform, Gaps<Profile>)>,
    /// What is told of it.
    told: Vec<FileError>,
}

/// What is wrong with the base of a platform or with a variant.
struct Wrong {
    variant: Option<String>,
    unknown: Vec<Mistake>,
    findings: Vec<Finding>,
    can_be_built: bool,
}

impl Surveyed {
    fn of(file: &str, text: &str) -> Self {
        let part: Part<Profile> = Part::of(file, text, PROFILE_STAND_INS);
        let source = Arc::new(part.source);
        let platform = part.value.map(|profile| Platform {
            profile: Arc::new(profile),
            variant: None,
            counters: Arc::default(),
            drivers: Arc::default(),
            vendors: Arc::new(BTreeSet::from([NVIDIA_NETWORKING])),
            by_name: true,
            needs_topology: true,
            source,
        });
        Self {
            part: platform.map(|platform| (platform, part.gaps)),
            told: part.mistakes,
        }
    }

    /// Judges the platform beside the drivers and the platforms before it, by name; returns whether it can be read.
    fn judge(&mut self, beside: &Drivers, names: &mut BTreeSet<String>) -> bool {
        let Some((mut base, gaps)) = self.part.take() else {
            return false;
        };
        base.drivers = Arc::clone(&beside.known);
        base.counters = Arc::new(CountersAtRest::of(&beside.known, &base.profile.counters));
        let name = base.profile.name.clone();
        let is_known = gaps.spare("name") && !names.insert(name.clone());
        let mistakes = of_profile(&base.source, &base.profile, is_known);
        let has_name_mistake = has_name_mistake(&mistakes);
        let all: Vec<Wrong> = base.with_variants().into_iter().map(Wrong::of).collect();
        let mut unknown = all.iter().flat_map(|wrong| &wrong.unknown);
        let is_sound = gaps.are_none() && mistakes.is_empty() && unknown.next().is_none();

        let own = mistakes.into_iter();
        let own = own.filter(|mistake| gaps.spare_mistake(mistake, None));
        self.told.extend(own.map(|mistake| mistake.error));
        let all_resolved = all.iter().all(|wrong| wrong.unknown.is_empty());
        let are_names_sure = all.first().is_some_and(Wrong::has_sure_names);
        let mut unknown: Vec<&Mistake> = Vec::new();
        let mut findings: Vec<&Finding> = Vec::new();
        for wrong in &all {
            let variant = wrong.variant.as_deref();
            let own = wrong.unknown.iter().filter(|mistake| {
                let is_sure = match mistake.about.0 {
                    "driver" => !beside.has_nameless && !beside.broken.contains(&mistake.about.1),
                    "device" => are_names_sure,
                    _ => true,
                };
                is_sure && gaps.spare_mistake(mistake, variant)
            });
            let own = own.filter(|mistake| {
                let is_told = |told: &&Mistake| {
                    let is_there = told.error.place == mistake.error.place
                        || !mistake.path.starts_with("variants.");
                    told.about == mistake.about && is_there
                };
                variant.is_none() || !unknown.iter().any(is_told)
            });
            let own: Vec<&Mistake> = own.collect();
            unknown.extend(own);

            let own = wrong.findings.iter().filter(|finding| {
                let is_sure = match finding.problem.problem {
                    ProblemKind::UnusedModel(_) => all_resolved,
                    ProblemKind::PlatformName(_) => !has_name_mistake,
                    ProblemKind::NoSuchCounter(_) => !beside.has_twins,
                    _ => true,
                };
                let needs = finding.problem.problem.needs();
                let is_built = wrong.can_be_built || !matches!(needs, Needs::Machine(_));
                is_sure && is_built && gaps.spare_finding(finding, variant)
            });
            let of_base = all
                .first()
                .map(|base| &base.findings[..])
                .unwrap_or_default();
            let own = own.filter(|finding| {
                let is_told = findings.iter().any(|told| told.problem == finding.problem);
                let is_base_s = |other: &Finding| is_of_base(finding, other, are_names_sure);
                variant.is_none() || !(is_told || of_base.iter().any(is_base_s))
            });
            let own: Vec<&Finding> = own.collect();
            findings.extend(own);
        }
        self.told
            .extend(unknown.into_iter().map(|it| it.error.clone()));
        self.told
            .extend(findings.into_iter().map(|it| it.problem.error.clone()));
        is_sound
    }
}

impl Wrong {
    /// Of a variant that cannot be applied, no value is judged: it may be that of the base.
    fn of((platform, mut unknown): (Platform, Vec<Mistake>)) -> Self {
        let is_applied = unknown.is_empty();
        let findings = match is_applied {
            true => without_consequences(platform.findings()),
            false => Vec::new(),
        };
        let unresolved = platform.resolve().into_iter();
        unknown.extend(unresolved.filter(|it| is_applied || it.about.0 != "device"));
        Self {
            can_be_built: platform.can_be_built(),
            variant: platform.variant,
            unknown,
            findings,
        }
    }

    /// Whether no device may have been meant to have another name.
    fn has_sure_names(&self) -> bool {
        let is_of_name = |finding: &Finding| {
            matches!(
                finding.problem.problem,
                ProblemKind::Twice { what: "device", .. } | ProblemKind::NoFileName { .. }
            )
        };
        !self.findings.iter().any(is_of_name)
    }
}

/// Whether a finding of a variant may be that of the base: the same at the same place, or the same of the machine as a
/// whole. Where names are not sure, no place of a device is.
fn is_of_base(finding: &Finding, base: &Finding, are_names_sure: bool) -> bool {
    let kinds = [finding, base].map(|it| &it.problem.problem);
    let is_of_whole = match kinds[0].needs() {
        Needs::Keys(keys) => keys.contains(&"devices"),
        Needs::Machine(_) | Needs::All => true,
    };
    let is_there = finding.problem.error.place == base.problem.error.place;
    discriminant(kinds[0]) == discriminant(kinds[1]) && (is_of_whole || is_there || !are_names_sure)
}

/// Whether a name of the file's own is none.
fn has_name_mistake(mistakes: &[Mistake]) -> bool {
    mistakes.iter().any(|mistake| mistake.about.0 == A_NAME)
}

#[cfg(test)]
mod tests;
