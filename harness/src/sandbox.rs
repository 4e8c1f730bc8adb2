//! A sandbox: one platform's tree on a FUSE mount, for manual inspection and faults.
//!
//! Commands are lines of `do:` in the scenario language, such as `cut: mlx5_3`; a device's name is
//! its handle; or the same words without braces, such as `cut mlx5_3/1` (`typed.rs`). Time passes with the
//! wall clock. There is no monitor and no story; commands about those are rejected by name.

pub mod control;
mod saved;
mod typed;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Arc, Mutex},
    time::Duration,
};

use fabric::{ActionError, Kmsg, NodeAction};
use platforms::{Machine, Platform};
use scenarios::{RuleAction, RuleEffect, StepAction, Unfit};
use simfs::{Edit, Fs, MomentId, Op, RuleId, SimTime};
use simfs_fuse::{HoldId, MomentAnswer, MountError, Observer, Options, Server};

use director::{MissingFile, rule_of};
use fabric::SingleNode;
use typed::Typed;
pub use typed::verbs;

use crate::process::{Stage, host_shell};

/// Why a sandbox cannot be mounted, or a command fails.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The tree cannot be mounted.
    #[error("{error}{}", cause_of(.error))]
    Mount {
        /// The cause.
        #[from]
        error: MountError,
    },
    /// The folder for the mount cannot be made.
    #[error("the folder for the mount cannot be made: {0}")]
    Folder(io::Error),
    /// A word of the line is wrong.
    #[error("{what}{}", hint_of(.hint.as_deref()))]
    Word {
        /// The problem, with the word.
        what: String,
        /// What may be meant, or is allowed.
        hint: Option<String>,
    },
    /// The platform lacks something that the line names.
    #[error("{0}")]
    Lacks(String),
    /// The fabric cannot perform the action.
    #[error(transparent)]
    World(#[from] ActionError),
    /// The file that a rule is about is not there.
    #[error("{0}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    File(Box<MissingFile>),
    /// A command that needs a drill.
    #[error("`{0}` needs a monitor\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NeedsDrill(&'static str),
}

impl SandboxError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NeedsDrill(..) => "write a scenario, and `nicdrill run` it".into(),
            Self::File(missing) => missing.hint().into(),
            _ => return None,
        })
    }
}

fn hint_of(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"))
}

fn cause_of(error: &MountError) -> String {
    std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"))
}

/// A mounted platform.
pub struct Sandbox {
    node: SingleNode,
    platform: Platform,
    kmsg: Kmsg,
    server: Server,
    next_rule: u64,
    rules: BTreeSet<RuleId>,
    dir: PathBuf,
    done: Vec<Done>,
}

/// A command that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Done {
    /// When, after the mount.
    at: SimTime,
    /// As a line of `do:`.
    line: String,
}

/// The command that ends all faults.
const HEAL: &str = "heal";

impl Sandbox {
    /// Mounts a platform at rest on a folder.
    ///
    /// # Errors
    /// If it cannot be mounted there.
    pub fn mount(platform: &Platform, dir: &Path) -> Result<Self, SandboxError> {
        Self::with(platform, dir, &[])
    }

    /// Mounts a platform at rest on a stage, for [`Sandbox::start`].
    ///
    /// # Errors
    /// If it cannot be mounted there.
    pub fn on_stage(platform: &Platform, stage: &Stage) -> Result<Self, SandboxError> {
        let dir = stage.folder().join("shell").join("root");
        fs::create_dir_all(&dir).map_err(SandboxError::Folder)?;
        Self::with(platform, &dir, &host_shell::edits())
    }

    /// Starts a command on the stage, with the tree over the host's files.
    ///
    /// # Errors
    /// If the kernel refuses something, or there is no such program.
    pub fn start(&self, stage: &Stage, command: &mut Command) -> io::Result<Child> {
        let tree = self.server.with_fs(|fs| fs.tree().clone());
        let folder = self.dir.parent().unwrap_or(&self.dir);
        host_shell::start(stage, (folder, &self.dir), &tree, command)
    }

    fn with(platform: &Platform, dir: &Path, more: &[Edit]) -> Result<Self, SandboxError> {
        let node = SingleNode::new(platform);
        let mut fs = director::rendered(node.machine());
        fs.apply(more);
        let mut kmsg = Kmsg::default();
        fs.apply(&kmsg.edits(&node.fabric, node.name()));
        let options = Options {
            gate: false,
            removable: true,
            ..Options::default()
        };
        let server = Server::mount(Arc::new(Mutex::new(fs)), dir, options, Arc::new(Onlooker))?;
        let platform = platform.clone();
        Ok(Self {
            node,
            platform,
            kmsg,
            server,
            next_rule: 0,
            rules: BTreeSet::new(),
            dir: dir.to_owned(),
            done: Vec::new(),
        })
    }

    /// Advances the world to this time after the mount.
    pub fn advance(&mut self, since_mount: Duration) {
        let to = SimTime::from_ns(u64::try_from(since_mount.as_nanos()).unwrap_or(u64::MAX));
        self.node.advance(to);
        self.show();
    }

    /// Executes a command now.
    ///
    /// # Errors
    /// If the line is not a command, or the command cannot be done.
    pub fn command(&mut self, line: &str) -> Result<(), SandboxError> {
        let at = self.node.fabric.now();
        if line == HEAL {
            self.heal();
            self.done.push(Done {
                at,
                line: HEAL.to_owned(),
            });
        } else {
            let (line, actions) = self.read(line)?;
            for action in &actions {
                self.action(action)?;
            }
            self.done.push(Done { at, line });
        }
        self.settle();
        Ok(())
    }

    /// Takes back the last command: all is healed, and what was done before is done again. Returns what it was;
    /// `None` if nothing was done.
    ///
    /// # Errors
    /// If a command before cannot be done again.
    pub fn undo(&mut self) -> Result<Option<String>, SandboxError> {
        let Some(last) = self.done.pop() else {
            return Ok(None);
        };
        self.heal();
        self.settle();
        for done in self.done.clone() {
            if done.line == HEAL {
                self.heal();
            } else {
                for action in &self.read(&done.line)?.1 {
                    self.action(action)?;
                }
            }
        }
        self.settle();
        Ok(Some(last.line))
    }

    /// What was done, one line each, and how long ago.
    #[must_use]
    pub fn status(&self) -> String {
        let now = self.node.fabric.now().as_ns() / 1_000_000_000;
        let mut text = format!("{} since {now} s\n", self.platform.name());
        for done in &self.done {
            let ago = now - done.at.as_ns() / 1_000_000_000;
            text += &format!("{ago} s ago: {}\n", done.line);
        }
        text
    }

    /// What was done, as a scenario.
    #[must_use]
    pub fn saved(&self) -> String {
        saved::story(&self.platform.name(), &self.devices(), &self.done)
    }

    /// The names of devices, and of ports as `mlx5_3/1`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let ports = self.platform.ports();
        let ports = ports
            .iter()
            .map(|port| format!("{}/{}", port.device, port.port));
        self.devices().into_iter().chain(ports).collect()
    }

    fn devices(&self) -> BTreeSet<String> {
        let ports = self.platform.ports();
        ports.iter().map(|port| port.device.to_string()).collect()
    }

    /// What a command means, and the line of `do:` that it stands for.
    fn read(&self, text: &str) -> Result<(String, Vec<StepAction>), SandboxError> {
        let typed = Typed::read(text);
        let lines = match &typed {
            Some(typed) => {
                self.is_there(typed)?;
                typed.lines(&self.devices())
            }
            None => vec![text.to_owned()],
        };
        let mut first = None;
        for line in lines {
            match scenarios::read_actions(&line, self.node.name(), &self.platform) {
                Ok(actions) => return Ok((line, actions)),
                Err(unfit) => drop(first.get_or_insert(unfit)),
            }
        }
        Err(match first.expect("a command is at least one line") {
            Unfit::NotApplicable { reason } => SandboxError::Lacks(reason),
            Unfit::Wrong(error) => {
                let (what, hint) = typed::told(text, typed.as_ref(), error.first());
                SandboxError::Word { what, hint }
            }
        })
    }

    /// Refuses a port that its device does not have.
    fn is_there(&self, typed: &Typed) -> Result<(), SandboxError> {
        let names = self.names();
        let Some(device) = typed.device_of_port() else {
            return Ok(());
        };
        let subject = typed.subject();
        if names.iter().any(|name| name == subject) || !self.devices().contains(device) {
            return Ok(());
        }
        let begins = format!("{device}/");
        let ports = names.iter().filter(|name| name.starts_with(&begins));
        let ports: Vec<String> = ports.map(|port| format!("`{port}`")).collect();
        Err(SandboxError::Word {
            what: format!("unknown port `{subject}`"),
            hint: Some(format!("`{device}` has {}", ports.join(", "))),
        })
    }

    fn heal(&mut self) {
        self.node.fabric.heal();
        self.server.with_fs(|fs| {
            for rule in std::mem::take(&mut self.rules) {
                fs.disarm(rule);
            }
        });
    }

    /// Lets what was done begin, and shows it.
    fn settle(&mut self) {
        let fabric = &mut self.node.fabric;
        fabric.advance(fabric.now());
        self.show();
    }

    /// The folder on which it is mounted.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.server.mountpoint()
    }

    /// What the tree shows.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.node.machine()
    }

    /// The files that were read since the previous call, by path below the mount.
    #[must_use]
    pub fn files_read(&self) -> BTreeSet<String> {
        let trace = self.server.with_fs(Fs::take_trace);
        let reads = trace.iter().filter(|entry| entry.op == Op::Read);
        let paths = reads.map(|entry| entry.path.trim_start_matches('/').to_owned());
        paths.collect()
    }

    /// Whether it is still mounted: anybody may unmount it.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        self.server.is_mounted()
    }

    /// Unmounts the tree.
    ///
    /// # Errors
    /// If a process still uses the mount.
    pub fn unmount(self) -> Result<(), SandboxError> {
        Ok(self.server.unmount()?)
    }

    fn action(&mut self, action: &StepAction) -> Result<(), SandboxError> {
        match action {
            StepAction::World(action) => self.node.fabric.act(action)?,
            StepAction::Reboot { node, plan } => {
                let plan = plan.clone();
                let reboot = NodeAction::Reboot { plan }.on(node.clone());
                self.node.fabric.act(&reboot)?;
            }
            StepAction::Rule(rule) => self.rule(rule)?,
            StepAction::Unrule(_) => self.server.with_fs(|fs| {
                for rule in std::mem::take(&mut self.rules) {
                    fs.disarm(rule);
                }
            }),
            StepAction::Connector(..) => return Err(SandboxError::NeedsDrill("connector")),
            StepAction::Monitor(..) => return Err(SandboxError::NeedsDrill("monitor")),
            StepAction::Load(_) => return Err(SandboxError::NeedsDrill("a workload")),
            StepAction::StateFile(..) => return Err(SandboxError::NeedsDrill("state_file")),
        }
        Ok(())
    }

    fn rule(&mut self, action: &RuleAction) -> Result<(), SandboxError> {
        if let RuleEffect::Torn(_) = action.effect {
            return Err(SandboxError::NeedsDrill("torn"));
        }
        let id = RuleId(self.next_rule);
        self.next_rule += 1;
        let Some(rule) = rule_of(&self.node.fabric, id, action, self.node.fabric.now()) else {
            return Err(SandboxError::NeedsDrill("vanish"));
        };
        let unmet = self.server.with_fs(|fs| fs.unmet(rule.ops, &rule.pattern));
        if unmet.is_some() && !action.appears_later {
            return Err(SandboxError::File(Box::new(MissingFile {
                path: rule.pattern.as_str().to_owned(),
                unmet,
                appears_later: false,
            })));
        }
        self.rules.insert(id);
        self.server.with_fs(|fs| fs.arm(rule));
        Ok(())
    }

    /// Applies the changes since the last call to the mounted tree.
    fn show(&mut self) {
        let mut edits = self.node.unshown();
        let fabric = &self.node.fabric;
        edits.extend(self.kmsg.edits(fabric, self.node.name()));
        if !edits.is_empty() {
            self.server.edit(fabric.now(), &edits);
        }
    }
}

/// The observer of a mount without a story: nothing is gated, and a hang lasts until it is healed.
struct Onlooker;

impl Observer for Onlooker {
    fn gate(&self, _: HoldId, _: u32) {}

    fn hung(&self, _: HoldId, _: u32, _: RuleId, _: &str) {}

    fn moment(&self, _: &mut Fs, _: MomentId, _: u32) -> MomentAnswer {
        MomentAnswer::Go
    }

    fn stuck(&self, _: HoldId, _: u32) {}

    fn killed(&self, _: HoldId, _: u32) {}
}
