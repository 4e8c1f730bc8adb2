//! The start of the agent, and what it waits for before it judges anything. Start with
//! [`Agent::start`].

use std::collections::BTreeSet;
use std::rc::Rc;

use terms::{Check, CheckKind};

use super::Agent;
use super::delivery::Delivery;
use crate::config::Config;
use crate::counters::tally::Saturated;
use crate::discovery::{self, Discovery};
use crate::flags::Settings;
use crate::hands::Answer;
use crate::log_record::{Level, LogRecord};
use crate::memory::Memory;
use crate::metadata::Metadata;
use crate::metrics::Metrics;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::route::Route;
use crate::sample::Samples;
use crate::schedule::{Due, Schedule};
use crate::snapshot::{Anchor, Blind, Cause, SeenPorts, SeenScope, Snapshot};
use crate::state_file;
use crate::todo::Start;

/// Number of polls for which the boot id, or devices in the very first poll, are waited for.
const WAITED_POLLS: u32 = 3;

/// What the agent waits for before it judges.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// The boot id; contains the old state, if any, and the number of polls so far.
    BootId(Option<Box<Memory>>, u32),
    /// Devices that cannot be read in the very first poll without old state; contains the number of
    /// polls so far.
    FirstPoll(u32),
    Running,
}

impl Agent {
    /// Starts from texts, with a policy.
    ///
    /// # Errors
    ///
    /// As [`Agent::start`].
    pub fn start_with(
        start: Start<'_>,
        policy: Rc<dyn Policy>,
    ) -> Result<(Agent, Vec<LogRecord>), Refusal> {
        let settings = start.settings;
        let mut records = Vec::new();
        let config = match Config::read(&settings.paths.config, start.config, &mut records) {
            Err(_) if !policy.refuses_invalid_config() => Config::read("", Ok(b""), &mut records),
            read => read,
        };
        let mut config = config?;
        if !policy.reads_inclusion_override() {
            config.include = None;
        }
        let metadata = match Metadata::read(&settings.paths.metadata, start.metadata) {
            Ok(metadata) => Some(metadata),
            Err(cause) if config.is_pinning() || !policy.needs_metadata() => {
                let record =
                    LogRecord::new(Level::Warn, "no GPU metadata: pinned devices need none");
                records.push(record.with("cause", cause));
                None
            }
            Err(cause) => {
                return Err(Refusal::new(format!(
                    "NIC monitor cannot start without GPU metadata at {}: {cause}",
                    settings.paths.metadata
                ))
                .hint(
                    "ensure the metadata-collector DaemonSet is running and has written nic_topology",
                ));
            }
        };
        let mut old = state_file::read(&settings.paths.state_file, start.state, &mut records);
        if start.state.is_ok() && policy.takes_broken_state_for_empty() {
            old.get_or_insert_default();
        }
        let checks = running(&settings, &config, &mut records)?;
        let discovery = Discovery::new(
            config,
            metadata,
            Route::read(start.route),
            checks.clone(),
            &settings.paths,
            Rc::clone(&policy),
        );
        let metrics = Metrics::new(&settings.node_name, &checks);
        let schedule = Schedule::new(
            settings.state_polling_interval,
            policy.counter_interval(
                settings.state_polling_interval,
                settings.counter_polling_interval,
            ),
        );
        let mut agent = Agent {
            delivery: Delivery::new(settings.publish, &settings.node_name),
            until_next_poll: schedule.interval(),
            schedule,
            checks,
            settings,
            discovery,
            memory: Memory::default(),
            samples: Samples::default(),
            saved: Memory::default(),
            saving: None,
            save_is_due: false,
            save_was_tried: false,
            stage: Stage::Running,
            logged: BTreeSet::new(),
            metrics,
            was_due: Due::default(),
            saturated: Saturated::default(),
            policy,
            takes_as_reported: false,
        };
        let answer = start.boot_id.map(|bytes| Answer::Bytes(bytes.to_vec()));
        match discovery::boot_id(answer) {
            Ok(boot_id) => agent.begin(old, Some(boot_id)),
            Err(_) => {
                agent.discovery.wants_boot_id = true;
                agent.stage = Stage::BootId(old.map(Box::new), 0);
            }
        }
        Ok((agent, records))
    }

    /// Decides whether the boot is the same as that of the old state, and what is kept of the old
    /// state.
    pub(super) fn begin(&mut self, old: Option<Memory>, boot_id: Option<String>) {
        self.discovery.wants_boot_id = false;
        self.stage = Stage::Running;
        let scope = self.discovery.config.scope.clone();
        self.memory = match old {
            Some(mut memory)
                if self
                    .policy
                    .is_same_boot(memory.boot_id.as_deref(), boot_id.as_deref()) =>
            {
                self.saved = memory.clone();
                memory.after_restart(&*self.policy);
                self.takes_as_reported = !self.policy.reports_changes_while_away();
                memory
            }
            Some(memory) => {
                self.saved = memory.clone();
                memory.after_reboot(boot_id)
            }
            None => {
                self.stage = Stage::FirstPoll(0);
                Memory {
                    boot_id,
                    blind: true,
                    ..Memory::default()
                }
            }
        };
        self.memory.scope = Some(scope);
    }

    /// Whether everything that judging needs is known.
    pub(super) fn is_ready(&mut self, snapshot: &Snapshot) -> bool {
        if let Stage::BootId(old, polls) = &mut self.stage {
            match &snapshot.boot_id {
                Some(Ok(boot_id)) => {
                    let old = old.take().map(|old| *old);
                    self.begin(old, Some(boot_id.clone()));
                }
                Some(Err(cause)) if *polls >= WAITED_POLLS => {
                    let old = old.take().map(|old| *old);
                    let record = LogRecord::new(
                        Level::Warn,
                        "boot id cannot be read: going on as after a reboot",
                    );
                    self.delivery.record(
                        record
                            .with("path", &self.settings.paths.boot_id)
                            .with("cause", cause),
                    );
                    self.begin(old, None);
                }
                Some(Err(_)) => {
                    *polls += 1;
                    return false;
                }
                None => return false,
            }
        }
        if let Stage::FirstPoll(polls) = &mut self.stage {
            if snapshot.anchor != Anchor::Listed {
                return false;
            }
            let waits = self.policy.waits_at_first();
            if waits && has_unreadable(snapshot) && *polls < WAITED_POLLS {
                *polls += 1;
                self.metrics.deferred();
                return false;
            }
            self.stage = Stage::Running;
        }
        true
    }
}

/// The checks of `--checks` that the configuration does not disable.
fn running(
    settings: &Settings,
    config: &Config,
    records: &mut Vec<LogRecord>,
) -> Result<Vec<Check>, Refusal> {
    let mut checks = settings.checks.clone();
    if !config.counters.enabled {
        checks.retain(|check| {
            let is_counting = check.kind() == CheckKind::Degradation;
            if is_counting {
                let text = "skipping requested check: counterDetection.enabled is false";
                records.push(LogRecord::new(Level::Warn, text).with("check", check));
            }
            !is_counting
        });
    }
    if checks.is_empty() {
        return Err(Refusal::new(
            "no checks enabled: counterDetection.enabled is false, and --checks names counter \
             checks only",
        )
        .hint("name a state check, or enable counterDetection"));
    }
    Ok(checks)
}

fn has_unreadable(snapshot: &Snapshot) -> bool {
    snapshot.devices.iter().any(|seen| match &seen.scope {
        SeenScope::Out(_) => false,
        SeenScope::Unknown(blind) | SeenScope::In(_, SeenPorts::Blind(blind)) => {
            matches!(blind, Blind::Unreadable(_))
        }
        SeenScope::In(_, SeenPorts::Listed(ports)) => ports.iter().any(|port| {
            port.out.is_none()
                && matches!(
                    port.reading,
                    Err(Blind::Unreadable(Cause::Failed(_) | Cause::Garbled))
                )
        }),
    })
}
