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

use observe::Descriptor;
use platforms::{NodeName, Platform, Problem};

use harness::{
    check::{declared_role, unlike_declared},
    read_files::Library,
    suite::{Ask, SelectError, select},
};

use super::platform_pages::{NoSuchPlatform, find, in_columns};
use memory::{Found, classified};

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

/// Checks these platforms and shows them in full; without names, all platforms in brief.
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
        let ports = platform.ports().len();
        add(
            &mut checked.text,
            format_args!("{name}: {ports} ports, {reported}"),
        );
        for line in problems.iter().flat_map(|problem| problem.lines()) {
            add(&mut checked.text, format_args!("  {line}"));
        }
        checked.problems += problems.len();
        if !names.is_empty() {
            roles(platform, &found, &mut checked.text);
            fits(library, (name, platform), monitor, &mut checked.text)?;
        }
    }
    Ok(checked)
}

/// A row for each device: its declared role, and the role that the monitor finds.
fn roles(platform: &Platform, found: &Result<Found, String>, text: &mut String) {
    let mut declared: BTreeMap<String, String> = BTreeMap::new();
    for port in platform.ports() {
        declared.insert(port.device.to_string(), declared_role(&port));
    }
    match found {
        Err(line) => add(text, format_args!("  the monitor refuses to start: {line}")),
        Ok(found) => {
            let header = ["device", "declared", "the monitor"].map(str::to_owned);
            let rows = found.iter().map(|(device, seen)| {
                let seen = match seen {
                    Ok(watched) => format!("watches it as {}: {}", watched.role, watched.why),
                    Err(reason) => format!("leaves it alone: {reason}"),
                };
                let declared = declared.get(device).cloned().unwrap_or_default();
                [device.clone(), declared, seen]
            });
            let rows: Vec<[String; 3]> = std::iter::once(header).chain(rows).collect();
            for line in in_columns(&rows) {
                add(text, format_args!("  {line}"));
            }
        }
    }
    for note in platform.notes() {
        add(text, format_args!("  note: {note}"));
    }
}

/// How many scenarios apply to the platform with this monitor, what a descriptor has to add for cards of other vendors,
/// and why the others do not apply.
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
    let selected = select(library, monitor, &ask)?;
    let is_this = |world: &str| world == name;
    let resolved = selected.drills.iter().filter(|it| is_this(&it.drill.world));
    // The other scenarios have a world of their own.
    let scenarios = library.scenarios.iter();
    let on_platforms = scenarios.filter(|resolved| resolved.scenario.world().is_none());
    let (resolved, all) = (resolved.count(), on_platforms.count());
    add(
        text,
        format_args!("  {resolved} of {all} scenarios apply to it"),
    );
    let machine = platform.machine(&NodeName::from("node-a"));
    let ports = machine
        .functions
        .values()
        .filter(|function| function.rdma.is_some());
    let vendors: BTreeSet<u16> = ports.map(|function| function.vendor).collect();
    if !vendors.is_subset(monitor.monitored_vendors()) {
        let wanted: BTreeSet<u16> = monitor
            .monitored_vendors()
            .union(&vendors)
            .copied()
            .collect();
        let mut other = monitor.clone();
        other.vendors.clone_from(&wanted);
        if let Some(scope) = &mut other.promises.scope {
            scope.vendors = None;
        }
        let for_other = library.clone().watched_by(&other);
        let selected = select(&for_other, &other, &ask)?;
        let more = selected
            .drills
            .iter()
            .filter(|it| is_this(&it.drill.world))
            .count();
        let wanted: Vec<String> = wanted
            .iter()
            .map(|vendor| format!("{vendor:#06x}"))
            .collect();
        let wanted = wanted.join(", ");
        add(
            text,
            format_args!(
                "  {more} of {all} with `vendors: [ {wanted} ]` in the monitor's descriptor: `{}` does not monitor all of its cards",
                monitor.name
            ),
        );
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

    /// Of another vendor's machine it is told what a descriptor has to say, and what then applies; with such a descriptor,
    /// that much does.
    #[test]
    fn cards_of_another_vendor_are_told_with_what_a_descriptor_has_to_add() {
        let told = |monitor: &Descriptor| {
            let library = library().watched_by(monitor);
            let checked = check(&library, &["opa-cn5000".to_owned()], monitor).unwrap();
            let lines = checked
                .text
                .lines()
                .filter(|line| line.contains(" scenarios apply"));
            let applies = lines.map(|line| line.trim_start().split(' ').next().unwrap());
            let applies: Vec<usize> = applies.map(|number| number.parse().unwrap()).collect();
            let added = checked
                .text
                .lines()
                .find(|line| line.contains("with `vendors: "));
            let more = added.map(|line| {
                line.trim_start()
                    .split(' ')
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap()
            });
            (applies[0], more)
        };
        let (few, more) = told(&reference());
        let more: usize = more.expect("another vendor's cards");
        assert!(more > 3 * few, "{few} and {more}");
        let mut theirs = reference();
        let platform = library();
        let machine = platform
            .platforms
            .get("opa-cn5000")
            .unwrap()
            .machine(&NodeName::from("n"));
        theirs
            .vendors
            .extend(machine.functions.values().map(|function| function.vendor));
        assert_eq!(told(&theirs), (more, None));
    }
}
