//! Runs the reference agent on a platform's tree: the role of each device, and why.

use std::{cell::RefCell, collections::BTreeMap, fmt};

use checks::{
    Agent, Answer, Clocks, Flags, Hands, ReadError, Refusal, Request, Start, Unmonitored,
};
use fabric::NODE;
use platforms::{CLASS_INFINIBAND, NicRole, NodeName, Platform};
use simfs::{Fs, Refused};

/// Each device with its role, or with the reason why it is not monitored.
pub type FoundRoles = BTreeMap<String, Result<Watched, Unmonitored>>;

/// Why the agent classifies no device of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclassified {
    /// It refuses to start.
    Refused(Refusal),
    /// It cannot read its clocks.
    Clocks(ReadError),
}

impl fmt::Display for Unclassified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Clocks(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unclassified {}

impl From<Refusal> for Unclassified {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<ReadError> for Unclassified {
    fn from(error: ReadError) -> Self {
        Self::Clocks(error)
    }
}

/// A device that is monitored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Its role.
    pub role: NicRole,
    /// The rule that gave it the role, in the agent's words.
    pub why: String,
}

/// Lets the agent read the platform's tree.
///
/// # Errors
/// If it refuses to start; the text is then its one line.
pub fn classified(platform: &Platform) -> Result<FoundRoles, Unclassified> {
    let mut fs = Fs::new();
    fs.alias_folder(CLASS_INFINIBAND);
    fs.apply(&platforms::render(&platform.machine(&NodeName::from(NODE))));
    let discovery = Discovery(RefCell::new(fs));
    let flags = [
        "--node-name=node-a",
        "--metadata-path=/var/lib/nvsentinel/gpu_metadata.json",
        "--boot-id-path=/proc/sys/kernel/random/boot_id",
        "--proc-net-route-path=/proc/net/route",
    ];
    let settings = Flags::from_args(flags).and_then(|flags| flags.settings());
    let (settings, _) = settings?;
    let read = |path: &str| discovery.0.borrow_mut().read(path).map_err(errno);
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
    let (agent, _) = Agent::start(start)?;
    let found = agent.classified(&discovery)?;
    let because = because(&agent.explain(&discovery));
    let devices = found.into_iter().map(|(name, role)| {
        let name = name.to_string();
        let why = because.get(&name).cloned().unwrap_or_default();
        let role = role.map(|role| match role {
            checks::AssignedRole::Compute => NicRole::Compute,
            checks::AssignedRole::Storage => NicRole::Storage,
            _ => NicRole::Management,
        });
        let seen = role.map(|role| Watched { role, why });
        (name, seen)
    });
    Ok(devices.collect())
}

/// The role that the agent finds for each device. Without devices that are not monitored for a
/// reason other than Management; empty if the agent refuses to start.
#[must_use]
pub fn roles_found(platform: &Platform) -> BTreeMap<String, NicRole> {
    let role = |seen: Result<Watched, Unmonitored>| match seen {
        Ok(watched) => Some(watched.role),
        Err(why) => why.is_management().then_some(NicRole::Management),
    };
    let found = classified(platform).unwrap_or_default().into_iter();
    found
        .filter_map(|(device, seen)| Some((device, role(seen)?)))
        .collect()
}

/// The line `because:` of each device's paragraph.
fn because(explained: &str) -> BTreeMap<String, String> {
    let mut device = "";
    let mut reasons = BTreeMap::new();
    for line in explained.lines() {
        if let Some(reason) = line.strip_prefix("  because: ") {
            reasons.insert(device.to_owned(), reason.to_owned());
        } else if let Some((name, _)) = line.split_once(": ")
            && !line.starts_with(' ')
        {
            device = name;
        }
    }
    reasons
}

/// Reads a tree in which no read fails.
struct Discovery(RefCell<Fs>);

impl Hands for Discovery {
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

/// This tree has no rules and no moments, so an errno is the only possible error.
fn errno(refused: Refused) -> ReadError {
    match refused {
        Refused::Errno(error) => ReadError::Errno(error.0),
        Refused::Hangs { .. } | Refused::Moment(_) => ReadError::TimedOut,
    }
}
