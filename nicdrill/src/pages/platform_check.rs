//! Checks a platform: it parses, it renders, and the reference monitor finds in the rendered tree
//! the roles that the file declares. A platform checked by name is shown in full: why each NIC has
//! its role, and which scenarios apply to it.
//!
//! The monitor reads the tree as it would a node's and shares no code with `platforms`, so
//! agreement between the two is evidence.

use std::{collections::BTreeMap, fmt::Write as _};

use platforms::{Platform, Problem};

use harness::{
    check::{declared_role, unlike_declared},
    descriptors::shipped,
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
pub(crate) fn check(library: &Library, names: &[String]) -> Result<Checked, CheckError> {
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
            fits(library, name, &mut checked.text)?;
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

/// How many scenarios apply to the platform, and why the others do not.
fn fits(library: &Library, name: &str, text: &mut String) -> Result<(), SelectError> {
    let ask = Ask {
        platforms: vec![name.to_owned()],
        full: true,
        ..Ask::default()
    };
    let reference = shipped("reference").expect("the reference monitor ships");
    let selected = select(library, &reference, &ask)?;
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

    fn library() -> Library {
        Library::read(&[], &[]).unwrap()
    }

    #[test]
    fn every_shipped_platform_is_found_as_declared() {
        let checked = check(&library(), &[]).unwrap();
        assert_eq!(checked.problems, 0, "{}", checked.text);
    }

    #[test]
    fn a_platform_that_is_named_is_told_nic_by_nic_and_scenario_by_scenario() {
        let checked = check(&library(), &["h100-oci".to_owned()]).unwrap();
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
            let checked = check(&library(), &[name.to_owned()]).unwrap();
            assert_eq!(checked.problems, 0, "{}", checked.text);
            let refuses = checked.text.contains("the monitor refuses to start: ");
            assert!(refuses && checked.text.contains(line), "{}", checked.text);
        }
    }
}
