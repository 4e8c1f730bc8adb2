//! Whether a platform is what it declares: it parses, it renders, and the reference agent finds in
//! the rendered tree the roles that the file gives its devices.
//!
//! The agent looks at the tree as it would at a node's; it shares no code with the platform, so an
//! agreement means something.

use std::{cell::RefCell, collections::BTreeMap, fmt::Write as _};

use checks::{Agent, Answer, Clocks, Flags, Hands, ReadError, Request, Start};
use platforms::{NodeName, Platform, Platforms, PortFacts, Role};
use simfs::{Fs, Refused};

use crate::{
    CLASS_INFINIBAND,
    platform_pages::{NoSuchPlatform, find},
    suite::NODE,
};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// A line for each platform, and one for each problem.
    pub text: String,
    /// How many problems there are.
    pub problems: usize,
}

/// Checks these platforms with their variants; all of them if none is named.
///
/// # Errors
/// If a name means no platform.
pub fn check(platforms: &Platforms, names: &[String]) -> Result<Checked, NoSuchPlatform> {
    let mut checked = Checked::default();
    for name in names {
        find(platforms, name)?;
    }
    for (name, platform) in platforms.iter() {
        if !names.is_empty() && !names.iter().any(|asked| asked == name) {
            continue;
        }
        let problems = problems(platform);
        let ports = platform.ports().len();
        let said = if problems.is_empty() {
            "as declared"
        } else {
            "NOT as declared"
        };
        add(
            &mut checked.text,
            format_args!("{name}: {ports} ports, {said}"),
        );
        for problem in &problems {
            add(&mut checked.text, format_args!("  {problem}"));
        }
        checked.problems += problems.len();
    }
    Ok(checked)
}

/// What is wrong with one platform, one text each.
#[must_use]
pub fn problems(platform: &Platform) -> Vec<String> {
    let own: Vec<String> = platform.check().iter().map(ToString::to_string).collect();
    if !own.is_empty() {
        return own;
    }
    match classified(platform) {
        Ok(found) => unlike(platform, &found),
        Err(refusal) => vec![format!("the monitor does not start on it: {refusal}")],
    }
}

/// Each device with the role that the agent gives it, or why it is not monitored.
type Found = BTreeMap<String, Result<checks::Role, String>>;

fn unlike(platform: &Platform, found: &Found) -> Vec<String> {
    let mut problems = Vec::new();
    let declared: BTreeMap<String, PortFacts> = platform
        .ports()
        .into_iter()
        .map(|port| (port.device.to_string(), port))
        .collect();
    for (device, port) in &declared {
        let wanted = match port.role {
            _ if !port.is_monitored() => None,
            Role::Compute => Some(checks::Role::Compute),
            Role::Storage => Some(checks::Role::Storage),
            Role::Management => None,
        };
        let told = if port.is_vf {
            "virtual".to_owned()
        } else {
            port.role.to_string()
        };
        match (wanted, found.get(device)) {
            (_, None) => problems.push(format!(
                "`{device}` is declared {told}, and is not in the tree"
            )),
            (None, Some(Ok(checks::Role::Management) | Err(_))) => {}
            (Some(wanted), Some(Ok(role))) if *role == wanted => {}
            (_, Some(Ok(role))) => {
                problems.push(format!(
                    "`{device}` is declared {told}, the monitor finds {role}"
                ));
            }
            (Some(_), Some(Err(reason))) => problems.push(format!(
                "`{device}` is declared {told}, the monitor does not watch it: {reason}"
            )),
        }
    }
    let unknown = found
        .iter()
        .filter(|(device, _)| !declared.contains_key(*device));
    problems.extend(
        unknown
            .filter(|(_, found)| matches!(found, Ok(role) if *role != checks::Role::Management))
            .map(|(device, _)| {
                format!("`{device}` is watched by the monitor, and is not declared")
            }),
    );
    problems
}

/// Lets the agent look at the platform's tree.
fn classified(platform: &Platform) -> Result<Found, String> {
    let mut fs = Fs::new();
    fs.alias_folder(CLASS_INFINIBAND);
    fs.apply(&platforms::render(&platform.machine(&NodeName::from(NODE))));
    let eyes = Eyes(RefCell::new(fs));
    let flags = [
        "--node-name=node-a",
        "--metadata-path=/var/lib/nvsentinel/gpu_metadata.json",
        "--boot-id-path=/proc/sys/kernel/random/boot_id",
        "--proc-net-route-path=/proc/net/route",
    ];
    let settings = Flags::from_args(flags).and_then(|flags| flags.settings());
    let (settings, _) = settings.map_err(|refusal| refusal.line)?;
    let read = |path: &str| eyes.0.borrow_mut().read(path).map_err(errno);
    let (metadata, route, boot_id) = (
        read(&settings.paths.metadata),
        read(&settings.paths.route),
        read(&settings.paths.boot_id),
    );
    let start = Start {
        settings,
        config: Ok(b"sysClassInfinibandPath = \"/sys/class/infiniband\"\nsysClassNetPath = \"/sys/class/net\"\n"),
        metadata: metadata.as_deref().map_err(|error| *error),
        route: route.as_deref().map_err(|error| *error),
        boot_id: boot_id.as_deref().map_err(|error| *error),
        state: Err(ReadError::ENOENT),
    };
    let (agent, _) = Agent::start(start).map_err(|refusal| refusal.line)?;
    let found = agent.classified(&eyes).map_err(|error| error.to_string())?;
    Ok(found
        .into_iter()
        .map(|(name, role)| (name.to_string(), role))
        .collect())
}

/// Reads a tree in which nothing goes wrong.
struct Eyes(RefCell<Fs>);

impl Hands for Eyes {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        let mut fs = self.0.borrow_mut();
        let mut one = |request: &Request| match request {
            Request::List(path) => fs.list(path).map(Answer::Names).map_err(errno),
            Request::Read(path) => fs.read(path).map(Answer::Bytes).map_err(errno),
            Request::ReadLink(path) => fs
                .read_link(path)
                .map(Answer::Target)
                .map_err(|error| errno(Refused::Errno(error))),
        };
        requests.iter().map(&mut one).collect()
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        Ok(Clocks {
            wall_ns: platforms::WORLD_START_WALL_NS,
            boot_ns: platforms::UPTIME_AT_REST_NS,
        })
    }
}

/// There are no rules and no moments in this tree, so nothing but an errno can come.
fn errno(refused: Refused) -> ReadError {
    match refused {
        Refused::Errno(error) => ReadError::Errno(error.0),
        Refused::Hangs { .. } | Refused::Moment(_) => ReadError::TimedOut,
    }
}

fn add(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: lsd/4.1.3/a100-oci, lsd/4.1.3/l40-on-prem, lsd/4.1.3/l40s-oci, lsd/4.1.3/h100-dgx
    // covers: lsd/4.1.3/h100-oci, lsd/4.1.3/gb200-nvl4, lsd/4/classifies-locally
    // covers: lsd/4/signal-link-layer, lsd/4/zero-configuration, lsd/4.2.4/a100-oci-mlx5-0
    // covers: lsd/4.2.4/a100-oci-mlx5-13, lsd/4.2.4/a100-oci-sixteen-are-compute
    // covers: lsd/4.2.4/h100-oci-mlx5-2, lsd/4.2.4/h100-oci-mlx5-11
    // covers: lsd/4.2.4/h100-oci-sixteen-are-compute, lsd/4.2.4/l40s-oci
    // covers: lsd/4.2.4/on-prem-l40s-mlx5-0, lsd/4.2.4/on-prem-l40s-mlx5-1
    // covers: lsd/4.2.4/on-prem-l40s-mlx5-2, lsd/4.2.4/on-prem-l40s-mlx5-3
    // covers: lsd/4.2.4/on-prem-l40s-mlx5-4, lsd/4.2.4/on-prem-l40s-with-default-route
    // covers: lsd/4.2.4/gb200-ibp3s0, lsd/4.2.4/gb200-ibp2p3s0, lsd/4.2.4/gb200-ibp16p3s0
    // covers: lsd/4.2.4/gb200-ibp18p3s0, lsd/4.2.4/gb200-rocep6p3s0, lsd/4.2.4/gb200-rocep22p3s0
    #[test]
    fn every_shipped_platform_is_found_as_declared() {
        let checked = check(&Platforms::shipped(), &[]).unwrap();
        assert_eq!(checked.problems, 0, "{}", checked.text);
    }

    #[test]
    fn a_role_that_the_tree_does_not_bear_out_is_named() {
        let shipped = Platforms::shipped();
        let (_, platform) = shipped.iter().next().unwrap();
        let mut found = classified(platform).unwrap();
        let watched = found
            .iter()
            .find(|(_, role)| role.is_ok())
            .unwrap()
            .0
            .clone();
        found.insert(watched.clone(), Err("it is a test".to_owned()));
        let problems = unlike(platform, &found);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(&watched) && problems[0].contains("it is a test"));
    }
}
