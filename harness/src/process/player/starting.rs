//! Starts a monitor: its command line and files, what it sees of the stage, and its limits.

use std::{io, path::Path, time::Duration};

use director::{MonitorId, STATE_FILE};
use observe::{Broken, Filling, Limits, Pace, RootAt, Size};
use platforms::NodeName;

use super::{Play, Player, stage};
use crate::process::{
    binds::Bind,
    confinement::Confinement,
    host_root::HostRoot,
    inbox::EventSender,
    loops::Loops,
    monitor_process::{MonitorProcess, Order},
    mount_space::{MountView, temporary},
    node_runtime::{MonitorInstance, NodeRuntime, Runs},
    shared_folder::SharedFolder,
    start_error,
};

/// Where programs are if the environment does not say it.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Player<'_> {
    /// Starts a monitor and waits until it is at the gate, or listens. One that is run again and again only may run
    /// from now on.
    pub(super) fn start_process(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Play<()> {
        if self.has_runs() {
            let runs = Runs {
                flags: flags.to_vec(),
                config: config.to_owned(),
                ..Runs::default()
            };
            self.node_runtime(node).runs.insert(monitor, runs);
            return Ok(());
        }
        self.spawn(node, monitor, flags, config)?;
        if self.descriptor.pace() == Pace::Asked {
            self.await_listening(node, monitor)?;
        } else {
            self.wait(
                node,
                monitor,
                "its first listing of `{root}/sys/class/infiniband`",
                |instance, loops| instance.gate.len() >= loops,
            )?;
        }
        self.outside_polls(node);
        Ok(())
    }

    /// Starts the program of a monitor.
    pub(super) fn spawn(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Play<()> {
        if self
            .node_runtimes
            .values()
            .any(|node_runtime| !node_runtime.instances.is_empty())
        {
            self.arm.network.leave();
        }
        let order = self.order(node, monitor, flags, config);
        let order = order.map_err(|error| self.unordered(&error))?;
        if let Some(sighting) = &mut self.arm.sighting {
            sighting.started(&order, &self.node_runtimes[node]);
        }
        let sender = EventSender::new(node.clone(), self.arm.report.clone());
        let program =
            MonitorProcess::start(&self.arm.runtime, &order, sender, monitor).map_err(|error| {
                Broken::Stage {
                    cause: start_error::describe(&order.words, &error),
                }
            })?;
        let view = order.view.as_ref();
        let is_confined = view.is_some_and(|view| view.confinement.is_some());
        if let Err(why) = &self.arm.pids
            && is_confined
        {
            let line = format!("nicdrill: it sees the processes of the whole run: {why}");
            self.node_runtime(node).tick.log.push(line);
        }
        self.arm.watchdog.watch(program.pid(), program.space());
        if !self.has_runs() {
            self.node_runtime(node).spaces.extend(program.space());
        }
        let checks = self.story.checks.names();
        let checks = self.descriptor.switched_on(&checks, config);
        let tick = Duration::from_nanos(self.story.ticks.interval().as_ns());
        let expected = self.descriptor.expected_loops(&checks, tick);
        let loops = (!self.loops.is_empty()).then(|| Loops::new(&expected, self.tick()));
        let instance = MonitorInstance::new(program, order.metrics_port, loops);
        self.node_runtime(node).instances.insert(monitor, instance);
        Ok(())
    }

    /// The end of a drill whose monitor cannot be started: it has left no space for its files, or the stage is at fault.
    fn unordered(&mut self, error: &io::Error) -> Broken {
        if error.kind() != io::ErrorKind::StorageFull {
            return stage(error);
        }
        let space = self.descriptor.limits.most_space();
        self.over_limit(format!(
            "what it has written fills its folder, which holds {space}"
        ))
    }

    fn order(
        &self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> io::Result<Order> {
        let node_runtime = &self.node_runtimes[node];
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let (config_name, files_name) = (
            format!("{}.toml", monitor.0),
            format!("{}.files", monitor.0),
        );
        let config_file = node_runtime.folder.join(&config_name);
        let (root, socket, config_path) = (
            path(&node_runtime.root),
            path(&node_runtime.socket),
            path(&config_file),
        );
        let state_file = format!("{root}/{STATE_FILE}");
        let files = path(&node_runtime.folder.join(&files_name));
        let textfile_dir = path(&node_runtime.textfile_dir());
        let checks = self.story.checks.names();
        let filling = Filling {
            this: &self.arm.this,
            root: &root,
            state_file: &state_file,
            socket: &socket,
            config: &config_path,
            files: &files,
            textfile_dir: &textfile_dir,
            node: node.as_str(),
            metrics_port: self.arm.network.port()?,
            checks: &checks,
        };
        let text = self.descriptor.config_text(config, &filling);
        // An earlier start of the monitor could write there, too.
        let own = SharedFolder::open(&node_runtime.folder)?;
        if let Some(text) = &text {
            own.write(Path::new(&config_name), text.as_bytes())?;
        }
        let mut texts = Vec::new();
        for (name, text) in &self.descriptor.files {
            let text = filling.fill(text);
            own.write(&Path::new(&files_name).join(name), text.as_bytes())?;
            texts.push(text);
        }
        let wrong = self.arm.options.wrong.as_deref();
        let mut words = self.arm.options.wrap.clone();
        words.extend(limiting(&self.descriptor.limits));
        words.extend(self.descriptor.arguments(
            self.story.holds_for_good(),
            flags,
            wrong,
            &filling,
        ));
        let view = self.view(node_runtime, &filling)?;
        let confined = view.as_ref().filter(|view| view.confinement.is_some());
        let temporary = confined.map(|view| ("TMPDIR".to_owned(), path(&temporary(&view.stage))));
        let env = self.descriptor.env.iter();
        let env = env.map(|(name, value)| (name.clone(), filling.fill(value)));
        let mut env: Vec<(String, String)> = temporary.into_iter().chain(env).collect();
        if let Some(slurm) = &node_runtime.slurm {
            let stated = env.iter().rfind(|(name, _)| name == "PATH");
            let stated = stated.map(|(_, path)| path.clone());
            let programs = stated.or_else(|| std::env::var("PATH").ok());
            let programs = slurm.path(programs.as_deref().unwrap_or(USUAL_PATH));
            env.push(("PATH".to_owned(), programs));
        }
        Ok(Order {
            words,
            env,
            config: text,
            files: texts,
            metrics_port: filling.metrics_port,
            wrapped: !self.arm.options.wrap.is_empty(),
            daemon: self.descriptor.daemon,
            most: self.most(),
            view,
        })
    }

    /// What a monitor sees of the stage.
    fn view(
        &self,
        node_runtime: &NodeRuntime,
        filling: &Filling<'_>,
    ) -> io::Result<Option<MountView>> {
        let binds = self.descriptor.binds.iter().map(|(at, from)| Bind {
            at: at.into(),
            from: filling.fill(from).into(),
        });
        match &self.arm.stage {
            Some(stage) => {
                let confinement = self.confinement()?;
                // A daemon's end is known to its parent alone, which is the first process of its namespace.
                let has_own_pids = confinement.is_some() && !self.descriptor.daemon;
                Ok(Some(MountView {
                    stage: stage.clone(),
                    node: node_runtime.folder.clone(),
                    over_host: (self.descriptor.root == RootAt::Host)
                        .then(|| HostRoot::new(&node_runtime.root, node_runtime.fs().tree())),
                    binds: binds.collect(),
                    confinement,
                    space: self.descriptor.limits.most_space(),
                    pids: self.arm.pids.clone().ok().filter(|_| has_own_pids),
                }))
            }
            None if self.descriptor.daemon => {
                Err(io::Error::other("`daemon` needs private namespaces"))
            }
            None if self.descriptor.root == RootAt::Host => {
                Err(io::Error::other("`root: /` needs private namespaces"))
            }
            None if self.descriptor.binds.is_empty() => Ok(None),
            None => Err(io::Error::other("`binds` needs private namespaces")),
        }
    }

    /// How many processes a monitor may have, and how much memory. A wrapper, such as a debugger, needs more memory than
    /// what it wraps.
    fn most(&self) -> (u32, Size) {
        let limits = &self.descriptor.limits;
        let memory = match (self.arm.options.wrap.is_empty(), limits.memory) {
            (false, None) => Size(u64::MAX),
            _ => limits.most_memory(),
        };
        (limits.most_processes(), memory)
    }

    /// How a monitor is confined. A wrapper is a tool of the user's, which writes where it is told to.
    fn confinement(&self) -> io::Result<Option<Confinement>> {
        if !self.descriptor.confine || !self.arm.options.wrap.is_empty() {
            return Ok(None);
        }
        if !self.arm.network.is_private() {
            return Err(io::Error::other(
                "the kernel grants no private network\nhint: `confine: false` in its descriptor starts it unconfined",
            ));
        }
        let writable = self.descriptor.writable.iter().map(Into::into);
        Ok(Some(Confinement {
            writable: writable.collect(),
        }))
    }
}

/// The words in front of a command that set its limits and then become the command.
fn limiting(limits: &Limits) -> Vec<String> {
    let settings = limits.settings();
    if settings.is_empty() {
        return Vec::new();
    }
    let settings = settings
        .iter()
        .map(|setting| format!("ulimit {setting} && "));
    let script = settings.collect::<String>() + "exec \"$@\"";
    ["sh", "-c", &script, "sh"].map(str::to_owned).into()
}
