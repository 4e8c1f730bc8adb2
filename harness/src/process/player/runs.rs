//! Monitors that are run again and again: a run begins in a tick in which one is due, is let work without a gate, and
//! says what it says when it ends.
//!
//! A run that the story holds goes on over ticks. Whoever runs it kills it after `kill_after` of simulated time; while
//! it lasts no other one begins. Start at [`Player::run`].

use observe::{Broken, Delivery, Exit, Medium, Occasion, RunEnd, slurm};
use platforms::NodeName;
use scenarios::Signal;

use super::{
    Play, Player,
    hearing::{printable, shortened},
    stage,
};
use director::MonitorId;

use crate::process::node_runtime::Run;

/// Of how many files it is told why a textfile collector leaves them out.
const REFUSED_MAX: usize = 20;

impl Player<'_> {
    /// Begins a run if one is due, or goes on with the one that is held.
    pub(super) fn run(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let is_due = self.is_due();
        let now = self.now_ns();
        let schedule = &self.descriptor.schedule;
        let kill_after = schedule.kill_after.map(observe::Span::as_ns);
        let (on_boot, on_tick) = (
            schedule.runs_on(Occasion::Boot),
            schedule.runs_on(Occasion::Tick),
        );
        let Some(runs) = self.node_runtime(node).runs.get_mut(&monitor) else {
            return Ok(());
        };
        let boots = on_boot && !runs.booted;
        runs.booted = true;
        let overruns = |run: &Run| kill_after.is_some_and(|limit| now >= run.begun_ns + limit);
        if runs.run.as_ref().is_some_and(overruns) {
            self.overrun(node, monitor)?;
        }
        let is_free = self.node_runtime(node).runs[&monitor].run.is_none();
        if is_free {
            if !(boots || (on_tick && is_due)) {
                return Ok(());
            }
            self.begin_run(node, monitor, now)?;
        }
        self.wait(node, monitor, "the end of its run", |_, _| false)?;
        Ok(())
    }

    /// Starts the program for one run.
    fn begin_run(&mut self, node: &NodeName, monitor: MonitorId, now: u64) -> Play<()> {
        let runs = &self.node_runtimes[node].runs[&monitor];
        let (flags, config) = (runs.flags.clone(), runs.config.clone());
        self.spawn(node, monitor, &flags, &config)?;
        let node_runtime = self.node_runtime(node);
        node_runtime.polled = true;
        if let Some(runs) = node_runtime.runs.get_mut(&monitor) {
            runs.run = Some(Run {
                begun_ns: now,
                output: String::new(),
                overran: false,
                stuck: false,
            });
        }
        Ok(())
    }

    /// Kills a run that takes too long. One that waits in the kernel ends only when its read does; until then no other
    /// one begins.
    fn overrun(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let runs = self.node_runtime(node).runs.get_mut(&monitor);
        let Some(run) = runs.and_then(|runs| runs.run.as_mut()) else {
            return Ok(());
        };
        if std::mem::replace(&mut run.overran, true) {
            return Ok(());
        }
        self.say(node, monitor, RunEnd::Overran);
        if let Some(instance) = self.node_runtime(node).instances.get(&monitor) {
            instance.program.signal(Signal::Kill);
        }
        self.wait(node, monitor, "its end after SIGKILL", |_, _| false)?;
        Ok(())
    }

    /// Handles the end of a run that was not ended by the story.
    pub(super) fn run_ended(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let limit = self.arm.options.limit;
        let instance = self.instance(node, monitor);
        let exit = instance.program.reap().map_err(|error| stage(&error))?;
        self.hear(node, monitor, true);
        let node_runtime = self.node_runtime(node);
        let instance = node_runtime.instances.remove(&monitor);
        // What a run leaves behind ends with it.
        let space = instance.and_then(|instance| instance.program.space());
        if space.is_some_and(|space| !space.clear(limit)) {
            let cause = "a process that a run has started does not end".to_owned();
            return Err(Broken::Stage { cause });
        }
        node_runtime.note_reads();
        let run = node_runtime
            .runs
            .get_mut(&monitor)
            .and_then(|runs| runs.run.as_mut());
        if run.is_some_and(|run| !run.overran) {
            let end = RunEnd::Exit(exit);
            self.say(node, monitor, end);
            let tick = &mut self.node_runtime(node).tick;
            tick.polls += 1;
            tick.run_ends.push(end);
        }
        if let Some(runs) = self.node_runtime(node).runs.get_mut(&monitor) {
            runs.run = None;
        }
        Ok(())
    }

    /// Notes what a run says by its end.
    fn say(&mut self, node: &NodeName, monitor: MonitorId, end: RunEnd) {
        self.hear_slurm(node);
        let adapter = self.descriptor.adapter();
        let node_runtime = self.node_runtime(node);
        let Some(runs) = node_runtime.runs.get_mut(&monitor) else {
            return;
        };
        let run = runs.run.as_ref();
        let output = run.map_or("", |run| run.output.as_str());
        let tick = &mut node_runtime.tick;
        if let Some(said) = adapter.run_says(end, output, &mut runs.open) {
            tick.calls.push(said.answered(true, end.to_string()));
        } else if node_runtime.slurm.is_some() && end != RunEnd::Exit(Exit::Code(0)) {
            tick.log.push(format!("nicdrill: {end}"));
        }
    }

    /// Notes what was asked of Slurm since the last time.
    pub(super) fn hear_slurm(&mut self, node: &NodeName) {
        let Some(codes) = self.descriptor.exit_code.as_ref() else {
            return;
        };
        let name = node.to_string();
        let node_runtime = self.node_runtime(node);
        let Some(calls) = node_runtime.slurm.as_mut().map(|slurm| slurm.calls()) else {
            return;
        };
        for call in calls {
            let line = format!("scontrol {}", call.join(" "));
            if let Some(observation) = slurm::observed(&call, &name, codes) {
                let said = Delivery::from(vec![observation]);
                node_runtime
                    .tick
                    .calls
                    .push(said.answered(true, "recorded".to_owned()));
            }
            node_runtime.tick.log.push(line);
        }
    }

    /// Whether a run or a scrape is due in this tick. While the world heals, one is in each.
    pub(super) fn is_due(&self) -> bool {
        let heals = self.director.healing_from().is_some() && self.lingering.is_none();
        let tick = self.story.ticks.interval().as_ns();
        heals || self.descriptor.schedule.is_due(self.now_ns(), tick)
    }

    /// The simulated time since the drill began.
    pub(super) fn now_ns(&self) -> u64 {
        self.ticks.last().map_or(0, |tick| tick.at_ns)
    }

    /// Whether the program is run again and again.
    pub(super) fn has_runs(&self) -> bool {
        self.descriptor.pace() == observe::Pace::Runs
    }

    /// What a textfile collector shows of a node in this tick, if it looks.
    pub(super) fn collect(&mut self, node: &NodeName) -> Play<()> {
        if self.descriptor.medium() != Medium::Files || !self.is_due() {
            return Ok(());
        }
        let shown = self.node_runtimes[node].textfiles(&self.descriptor.limits);
        let shown = shown
            .map_err(|what| self.over_limit(format!("its files for the collector have {what}")))?;
        let mut said = self.descriptor.adapter().files_say(&shown.series);
        let mut refused: Vec<String> = shown
            .refused
            .iter()
            .take(REFUSED_MAX)
            .map(|why| printable(&shortened(why)))
            .collect();
        let more = shown.refused.len() - refused.len();
        refused.extend((more > 0).then(|| format!("{more} more files are left out")));
        if !refused.is_empty() {
            said.fields.push(("refused".to_owned(), refused.join("; ")));
        }
        self.budget.count(&said);
        let tick = &mut self.node_runtime(node).tick;
        let log = refused.iter().map(|why| format!("nicdrill: {why}"));
        tick.log.extend(log);
        tick.calls.push(said.answered(true, "collected".to_owned()));
        self.goes_on()
    }
}
