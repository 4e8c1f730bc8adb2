//! Checks a platform: it parses, it renders, and the reference monitor finds in the rendered tree
//! the roles that the file declares. A platform checked by name is shown in full: why each NIC has
//! its role, and which scenarios apply to it.
//!
//! The monitor reads the tree as it would a node's and shares no code with `platforms`, so
//! agreement between the two is evidence.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use checks::scope::Reason;
use observe::{
    Descriptor,
    promises::{Named, Row},
};
use platforms::{NVIDIA_NETWORKING, NodeName, Platform, Problem, natural};

use harness::{
    check::{declared_role, unlike_declared},
    read_files::Library,
    suite::{Ask, SelectError, select},
};

use super::platform_pages::{NoSuchPlatform, find, in_columns};
use memory::{FoundRoles, Unclassified, Unmonitored, classified};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// One line for each platform, and more for each problem.
    pub(crate) text: String,
    /// The number of problems.
    pub(crate) problems: usize,
}

/// Why platforms could not be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// There is no platform of this name.
    #[error(transparent)]
    NoSuchPlatform(#[from] NoSuchPlatform),
    /// A scenario is wrong in every world.
    #[error(transparent)]
    Scenario(#[from] SelectError),
}

/// Checks these platforms by the documents' rules, and shows them in full, with what applies for this monitor; without
/// names, all platforms in brief.
///
/// # Errors
/// If a name is unknown, or a scenario is wrong.
pub(crate) fn check(
    library: &Library,
    names: &[String],
    monitor: &Descriptor,
) -> Result<Checked, CheckError> {
    let mut checked = Checked::default();
    for name in names {
        find(&library.platforms, name)?;
    }
    let watched = library.clone().watched_by(monitor).platforms;
    let mut before: Vec<Problem> = Vec::new();
    for (name, platform) in library.platforms.iter() {
        if !names.is_empty() && !names.iter().any(|asked| asked == name) {
            continue;
        }
        let findings = platform.check();
        // Findings that a variant shares with its base were shown there.
        let is_new = |finding: &&Problem| !before.contains(finding);
        let mut problems: Vec<String> = findings
            .iter()
            .filter(is_new)
            .map(ToString::to_string)
            .collect();
        let is_sound = findings.is_empty();
        before.extend(findings);
        let found = classified(platform);
        if is_sound {
            problems.extend(unlike_declared(platform, &found));
        }
        let reported = if problems.is_empty() && is_sound {
            "as declared"
        } else {
            "NOT as declared"
        };
        let ports = reports::counted(platform.ports().len() as u64, "port");
        add(
            &mut checked.text,
            format_args!("{name}: {ports}, {reported}"),
        );
        for line in problems.iter().flat_map(|problem| problem.lines()) {
            add(&mut checked.text, format_args!("  {line}"));
        }
        checked.problems += problems.len();
        if !names.is_empty() {
            let watched = watched.get(name).unwrap_or(platform);
            roles(watched, monitor, &found, &mut checked.text);
            fits(library, (name, watched), monitor, &mut checked.text)?;
        }
    }
    Ok(checked)
}

/// A row for each device: its declared role, and the role that the documents' monitor finds. What that one leaves alone for its
/// vendor, and this monitor does not, is told so.
fn roles(
    platform: &Platform,
    monitor: &Descriptor,
    found: &Result<FoundRoles, Unclassified>,
    text: &mut String,
) {
    let mut declared: BTreeMap<String, String> = BTreeMap::new();
    // The vendors of the devices that this monitor watches and the documents' does not.
    let mut own: BTreeMap<String, u16> = BTreeMap::new();
    let machine = platform.machine(&NodeName::from("any"));
    for port in platform.ports() {
        let device = port.device.to_string();
        declared.insert(device.clone(), declared_role(&port));
        let vendor = machine.functions.get(&port.pci).map(|it| it.vendor);
        let is_own = |vendor: &u16| *vendor != NVIDIA_NETWORKING && port.is_of_vendor;
        if let Some(vendor) = vendor.filter(is_own) {
            own.insert(device, vendor);
        }
    }
    match found {
        Err(line) => add(text, format_args!("  the monitor refuses to start: {line}")),
        Ok(found) => {
            let foreign = Unmonitored::Out(Reason::ForeignVendor);
            let header = ["device", "declared", "the monitor"].map(str::to_owned);
            let rows = found.iter().map(|(device, seen)| {
                let seen = match seen {
                    Ok(watched) => format!("watches it as {}: {}", watched.role, watched.why),
                    Err(reason) => match own.get(device) {
                        Some(vendor) if *reason == foreign => format!(
                            "watches it: `{}` names its vendor {vendor:#06x}; its role is the declared one",
                            monitor.name
                        ),
                        _ => format!("leaves it alone: {reason}"),
                    },
                };
                let declared = declared.get(device).cloned().unwrap_or_default();
                [device.clone(), declared, seen]
            });
            let mut rows: Vec<[String; 3]> = rows.collect();
            rows.sort_by_cached_key(|[device, ..]| natural(device));
            rows.insert(0, header);
            for line in in_columns(&rows) {
                add(text, format_args!("  {line}"));
            }
        }
    }
    for note in platform.notes() {
        add(text, format_args!("  note: {note}"));
    }
}

/// How many scenarios apply to the platform with this monitor, what a descriptor has to add so that more do, and why the
/// others do not apply.
fn fits(
    library: &Library,
    (name, platform): (&str, &Platform),
    monitor: &Descriptor,
    text: &mut String,
) -> Result<(), SelectError> {
    let ask = Ask {
        platforms: vec![name.to_owned()],
        full: true,
        ..Ask::default()
    };
    let is_this = |world: &str| world == name;
    let selected_for = |monitor: &Descriptor| {
        let library = library.clone().watched_by(monitor);
        let selected = select(&library, monitor, &ask)?;
        let resolved = selected.drills.iter().filter(|it| is_this(&it.drill.world));
        Ok::<_, SelectError>((resolved.count(), selected))
    };
    let (resolved, selected) = selected_for(monitor)?;
    // The other scenarios have a world of their own.
    let scenarios = library.scenarios.iter();
    let on_platforms = scenarios.filter(|resolved| resolved.scenario.world().is_none());
    let all = on_platforms.count();
    add(
        text,
        format_args!("  {resolved} of {all} scenarios apply to it"),
    );
    for (other, what) in others(platform, monitor) {
        let (more, _) = selected_for(&other)?;
        add(text, format_args!("  {more} of {all} {what}"));
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for pair in selected
        .not_applicable
        .iter()
        .filter(|it| is_this(&it.drill.world))
    {
        let of_reason = reasons.entry(&pair.reason).or_default();
        of_reason.push(&pair.drill.scenario);
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, scenarios)| std::cmp::Reverse(scenarios.len()));
    for (reason, scenarios) in reasons {
        let number = scenarios.len();
        add(text, format_args!("    {number} not: {reason}"));
        add(text, format_args!("      {}", scenarios.join(", ")));
    }
    Ok(())
}

/// The monitor with what it would have to say so that more applies to a platform: each with the reason.
fn others(platform: &Platform, monitor: &Descriptor) -> Vec<(Descriptor, String)> {
    let mut others = Vec::new();
    let name = &monitor.name;
    let machine = platform.machine(&NodeName::from("any"));
    let unwatched = machine.functions.values().filter(|it| {
        let owner = it.physfn.unwrap_or(it.pci);
        it.rdma.is_some() && !platform.watches(owner, it.vendor)
    });
    let vendors: BTreeSet<u16> = unwatched.map(|function| function.vendor).collect();
    let monitored = monitor.monitored_vendors();
    if !vendors.is_empty() {
        let wanted: BTreeSet<u16> = monitored.union(&vendors).copied().collect();
        let ids: Vec<String> = wanted.iter().map(|id| format!("{id:#06x}")).collect();
        let ids = ids.join(", ");
        let mut other = monitor.clone();
        let of_scope = other.promises.scope.as_mut();
        let key = match of_scope.and_then(|scope| scope.vendors.as_mut()) {
            Some(vendors) => {
                *vendors = wanted;
                format!("scope: {{ vendors: [ {ids} ] }}")
            }
            None => {
                other.vendors = wanted;
                format!("vendors: [ {ids} ]")
            }
        };
        others.push((
            other,
            format!("with `{key}` in the descriptor: `{name}` does not monitor all of its cards"),
        ));
    }
    if let (Some(refusal), true) = (
        platform.documented_refusal(),
        monitor.promises.needs_topology(),
    ) {
        let mut other = others.last().map_or(monitor, |(other, _)| other).clone();
        let too = if others.is_empty() { "" } else { " too" };
        let silent = (Named::Metadata.into(), Row::Silent);
        other.promises.rows.extend([silent]);
        others.push((
            other,
            format!(
                "with `rows: {{ metadata: silent }}`{too} in its promises, if it starts although {refusal}: `{name}` must refuse to"
            ),
        ));
    }
    others
}

fn add(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::descriptors::shipped;

    fn reference() -> Descriptor {
        shipped("reference").unwrap()
    }

    fn library() -> Library {
        Library::read(&[], &[]).unwrap()
    }

    #[test]
    fn every_shipped_platform_is_found_as_declared() {
        let checked = check(&library(), &[], &reference()).unwrap();
        assert_eq!(checked.problems, 0, "{}", checked.text);
    }

    #[test]
    fn a_platform_that_is_named_is_told_nic_by_nic_and_scenario_by_scenario() {
        let checked = check(&library(), &["h100-oci".to_owned()], &reference()).unwrap();
        for part in [
            "h100-oci: 18 ports, as declared\n",
            "mlx5_0   compute     watches it as compute: it shares a PCIe switch with a GPU (PIX or PXB)\n",
            "mlx5_2   management  leaves it alone: management: carries the default route\n",
            " scenarios apply to it\n",
            " not: `h100-oci` is not among the platforms named\n",
        ] {
            assert!(checked.text.contains(part), "{part}: {}", checked.text);
        }
        let resolved = checked
            .text
            .lines()
            .filter(|line| line.starts_with("      "));
        let others: usize = resolved.map(|line| line.split(", ").count()).sum();
        let line = checked
            .text
            .lines()
            .find(|line| line.ends_with("apply to it"));
        let (resolved, all) = line.unwrap().trim_start().split_once(" of ").unwrap();
        let all = all.split_once(' ').unwrap().0.parse::<usize>().unwrap();
        assert_eq!(
            resolved.parse::<usize>().unwrap() + others,
            all,
            "{}",
            checked.text
        );
    }

    #[test]
    fn where_the_monitor_must_refuse_its_line_is_told() {
        for (name, line) in [
            ("mi300x", "has empty nic_topology"),
            ("h100-vm", "has no GPUs with valid NUMA nodes"),
        ] {
            let checked = check(&library(), &[name.to_owned()], &reference()).unwrap();
            assert_eq!(checked.problems, 0, "{}", checked.text);
            let refuses = checked.text.contains("the monitor refuses to start: ");
            assert!(refuses && checked.text.contains(line), "{}", checked.text);
        }
    }

    #[test]
    fn devices_are_listed_in_the_order_of_their_numbers() {
        let checked = check(&library(), &["h100-oci".to_owned()], &reference()).unwrap();
        let rows = checked.text.lines().map(str::trim_start);
        let rows = rows.filter(|line| line.starts_with("mlx5_"));
        let names = rows.filter_map(|row| row.split_whitespace().next());
        let numbers = names.filter_map(|name| name.strip_prefix("mlx5_")?.parse().ok());
        let numbers: Vec<u32> = numbers.collect();
        assert_eq!(numbers, (0..18).collect::<Vec<_>>(), "{}", checked.text);
    }

    /// The numbers of scenarios that apply, and that would apply if the descriptor said more.
    fn counted(platform: &str, monitor: &Descriptor) -> Vec<usize> {
        let checked = check(&library(), &[platform.to_owned()], monitor).unwrap();
        assert_eq!(checked.problems, 0, "{}", checked.text);
        let lines = checked.text.lines().map(str::trim_start);
        let counted = lines.filter_map(|line| {
            let (number, rest) = line.split_once(" of ")?;
            let is_count = rest.contains(" scenarios apply") || rest.contains(" with `");
            number.parse().ok().filter(|_| is_count)
        });
        counted.collect()
    }

    /// Of another vendor's machine it is told what a descriptor has to say, and what then applies; with such a descriptor,
    /// that much does, and the machine is still as declared.
    #[test]
    fn cards_of_another_vendor_are_told_with_what_a_descriptor_has_to_add() {
        let platforms = library().platforms;
        let machine = platforms.get("opa-cn5000").unwrap();
        let machine = machine.machine(&NodeName::from("any"));
        let mut theirs = reference();
        let vendors = machine.functions.values().map(|function| function.vendor);
        theirs.vendors.extend(vendors);
        let [few, more] = counted("opa-cn5000", &reference())[..] else {
            panic!("one count, and one with the vendor");
        };
        assert!(more > 3 * few, "{few} and {more}");
        assert_eq!(counted("opa-cn5000", &theirs), [more]);
    }

    /// The same of a machine without the matrix by which the documents classify cards.
    #[test]
    fn a_machine_without_a_matrix_is_told_with_what_a_descriptor_has_to_add() {
        for platform in ["mi300x", "h100-vm"] {
            let mut other = reference();
            other
                .promises
                .rows
                .insert(Named::Metadata.into(), Row::Silent);
            let [few, more] = counted(platform, &reference())[..] else {
                panic!("one count, and one without metadata");
            };
            assert!(5 * few < more, "{platform}: {few} and {more}");
            assert_eq!(counted(platform, &other), [more], "{platform}");
        }
    }
}
